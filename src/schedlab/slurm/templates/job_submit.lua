-- Priority at submission: %TITLE%
-- Written by schedlab %VERSION%. Goes beside slurm.conf; needs JobSubmitPlugins=lua. README.md says what stops counting.
-- It sets %WHAT% and nothing else, never rejects a job, and leaves alone: held jobs, jobs whose priority was asked for,
-- jobs of other partitions, and everything if it fails.

local DRY_RUN = true               -- only log what would be done; false: do it
local WAY = "%WAY%"   -- lua-site-factor: a term of Slurm's own priority; lua: instead of it
local WEIGHT = %WEIGHT%            -- lua-site-factor: points of the first job; the last one gets none
local LOW, HIGH = %LOW%, %HIGH%    -- lua-site-factor: ranks of the first and of the last job
local PARTITIONS = %PARTITIONS%    -- nil: all
local ORIGIN = %ORIGIN%            -- Unix time from which the submit time r counts
local DEFAULT_MINUTES = %DEFAULT_MINUTES%   -- where neither the job nor its partition has a time limit
local CENTRE = 2147483648          -- the priority of the score 0

local function score(p, q, r, w, R)
   return %FORMULA%
end

-- An integer that orders as the score does, to seven digits: exponent and mantissa of a single-precision number.
local function rank(s)
   if s == 0 or s ~= s then return 0 end
   local mantissa, exponent = math.frexp(math.min(math.abs(s), 1e37))
   local code = math.min(math.max(exponent + 126, 0), 253) * 4194304 + math.floor((2 * mantissa - 1) * 4194304)
   if s < 0 then code = -code end
   return code
end

local function given(value)
   if value == nil or value == slurm.NO_VAL or value == slurm.NO_VAL16 or value == slurm.INFINITE then return nil end
   return value
end

local function minutes(job, parts)
   local own = given(job.time_limit)
   if own then return own end
   if job.time_limit == slurm.INFINITE then return DEFAULT_MINUTES end
   for name, part in pairs(parts or {}) do
      if job.partition == name or (job.partition == nil and part.flag_default == 1) then
         return given(part.default_time) or given(part.max_time) or DEFAULT_MINUTES
      end
   end
   return DEFAULT_MINUTES
end

local function processors(job)
   local tasks = given(job.num_tasks)
   local each = given(job.cpus_per_task) or 1
   if tasks then return tasks * each end
   return given(job.min_cpus) or given(job.min_nodes) or 1
end

local function prioritise(job, parts)
   if given(job.priority) then return end
   if PARTITIONS and not PARTITIONS[job.partition or ""] then return end
   local p = 60 * minutes(job, parts)
   local q = processors(job)
   local s = score(p, q, os.time() - ORIGIN, 0, p)
   local what, value
   if WAY == "lua" then
      what, value = "priority", CENTRE - rank(s)
   else
      what, value = "site_factor", math.floor(WEIGHT * math.min(math.max((HIGH - rank(s)) / (HIGH - LOW), 0), 1) + 0.5)
   end
   if not DRY_RUN then job[what] = value end
   slurm.log_info("schedlab: p=%s q=%s score=%s %s=%s%s", p, q, s, what, value, DRY_RUN and " (dry run)" or "")
end

function slurm_job_submit(job, parts, uid)
   local ok, problem = pcall(prioritise, job, parts)
   if not ok then slurm.log_error("schedlab: %s", tostring(problem)) end
   return slurm.SUCCESS
end

function slurm_job_modify(job, record, parts, uid)
   return slurm.SUCCESS
end
