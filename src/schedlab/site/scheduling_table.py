"""Parameters that decide about scheduling and priorities: rows of the table in `schedlab.site.parameters`."""

from __future__ import annotations

from schedlab.site.machine_table import CLIENTS, RECORDED
from schedlab.site.parameters import Row

_PASS = "tests/engine/slurm/test_slurm_by_hand.py"
_RULES = "tests/engine/slurm/test_rules_by_hand.py"
_TEXT = "tests/site/test_scheduling.py"
_PRIORITY = "tests/engine/parts/priority/test_priority.py"
_SHARES = "tests/engine/parts/priority/test_shares_by_hand.py"
_TRES = "tests/engine/parts/limits/test_site_by_hand.py"
_REAL = "tests/engine/slurm/test_real_slurm.py"

NO_TIME = "a scheduling pass takes no time here, so it is never interrupted, cut short or delayed"
RPC = "messages and their number are not simulated"
PREEMPT = "jobs that give way are cancelled, requeued or, by partition, suspended; equals do not take turns"
_PREEMPT = "tests/engine/parts/preemption/test_preemption_by_hand.py"
POWER = "nodes are not switched off"
IN_WHAT_IF = (
    "nodes are switched off only where what-if or switch-off changes when: recorded waits have their boots in them"
)
_SWITCHES = "tests/engine/machine/test_switches_by_hand.py"
_WAYS = "tests/engine/machine/test_ways.py"
_BUSY = "tests/engine/machine/test_busy.py"
HET = "components of a heterogeneous job are jobs of the schedule, which start together; its steps are not simulated"
_REQUEUES = "tests/engine/parts/requeues/test_requeues_by_hand.py"
_HET = "tests/engine/parts/heterogeneous/test_hetjobs_by_hand.py"
ARRAYS = "an array is as many jobs as it has elements"

ROWS: tuple[Row, ...] = (
    ("slurm.conf", "SchedulerType SchedulerParameters PriorityType PriorityFlags SelectType SelectTypeParameters "
     "PreemptType AccountingStorageEnforce", "modelled", "see the rows of its values", _TEXT),
    ("SchedulerType", "sched/backfill", "modelled", "main pass and backfill pass: +slurm(...)", _PASS),
    ("SchedulerType", "sched/builtin", "modelled", "the queue in the order of priority, without backfilling", _TEXT),
    ("SchedulerType", "sched/hold", "ignored", "holds all jobs; main and backfill pass are simulated", ""),
    # Passes
    ("SchedulerParameters", "bf_interval", "modelled", "interval= of +slurm", _PASS),
    ("SchedulerParameters", "bf_max_job_test", "modelled", "depth= of +slurm", _TEXT),
    ("SchedulerParameters", "max_job_bf", "modelled",
     "depth= of +slurm: the old name of bf_max_job_test, which Slurm reads until 20.02", _TEXT),
    ("SchedulerParameters", "bf_resolution", "modelled", "resolution= of +slurm", _PASS),
    ("SchedulerParameters", "bf_window", "modelled", "window= of +slurm, from minutes to seconds", _PASS),
    ("SchedulerParameters", "default_queue_depth", "modelled", "queue_depth= of +slurm", _PASS),
    ("SchedulerParameters", "batch_sched_delay", "modelled", "delay= of +slurm: seconds between main passes", _PASS),
    ("SchedulerParameters", "sched_interval", "approximated",
     "a main pass over the whole queue follows in the next full minute, whatever the interval", _PASS),
    ("SchedulerParameters", "sched_min_interval", "approximated",
     "with a value of a second or more, delay= of +slurm is at least as long; shorter ones are below a second", _TEXT),
    ("SchedulerParameters", "defer defer_batch", "approximated",
     "jobs always wait for the next pass; without defer, Slurm tries each once at its submission", _PASS),
    ("SchedulerParameters", "bf_continue bf_yield_interval bf_yield_sleep bf_max_time bf_yield_rpc_cnt max_sched_time "
     "build_queue_timeout yield_rpc_cnt yield_sleep", "ignored", NO_TIME, ""),
    ("SchedulerParameters", "max_rpc_cnt max_rpc_count", "ignored", RPC, ""),
    ("SchedulerParameters", "bf_max_job_user", "modelled", "user_depth= of +slurm", _PASS),
    ("SchedulerParameters", "bf_max_job_start", "modelled", "starts= of +slurm", _PASS),
    ("SchedulerParameters", "sched_max_job_start", "modelled", "main_starts= of +slurm", _RULES),
    ("SchedulerParameters", "bf_max_job_part", "modelled", "partition_depth= of +slurm", _PASS),
    ("SchedulerParameters", "bf_max_job_assoc", "modelled", "association_depth= of +slurm", _PASS),
    ("SchedulerParameters", "bf_max_job_user_part", "modelled", "user_partition_depth= of +slurm", _PASS),
    ("SchedulerParameters", "partition_job_depth", "modelled", "partition_queue_depth= of +slurm", _PASS),
    ("SchedulerParameters", "bf_min_age_reserve", "modelled", "reserve_age= of +slurm", _PASS),
    ("SchedulerParameters", "bf_max_job_array_resv", "modelled", "array_reserve= of +slurm", _RULES),
    ("SchedulerParameters", "bf_min_prio_reserve", "modelled", "reserve_priority= of +slurm", _RULES),
    ("SchedulerParameters", "bf_job_part_count_reserve", "modelled", "partition_reserve= of +slurm", _RULES),
    ("SchedulerParameters", "bf_one_resv_per_job", "modelled", "partitions=first of +slurm", _RULES),
    ("SchedulerParameters", "bf_busy_nodes", "modelled",
     "busy=first of +slurm: reservations take nodes in use before idle ones of their weight", _BUSY),
    ("SchedulerParameters", "bf_node_space_size", "modelled", "plan_size= of +slurm", _PASS),
    ("SchedulerParameters", "bf_running_job_reserve", "ignored", "running jobs always keep their nodes in a plan", ""),
    ("SchedulerParameters", "bf_licenses", "ignored", "jobs that wait for licences reserve nothing, as without it", ""),
    ("SchedulerParameters", "bf_allow_magnetic_resv bf_allow_magnetic_slot", "ignored",
     "jobs are in the reservation that they ask for", ""),
    ("SchedulerParameters", "bf_topopt_enable bf_topopt_iterations", "ignored",
     "a job starts on the nodes that it gets now, not later on better ones", ""),
    ("SchedulerParameters", "bf_hetjob_prio", "modelled", "hetjob_prio= of +slurm", _HET),
    ("SchedulerParameters", "bf_hetjob_immediate", "modelled", "hetjob_immediate= of +slurm", _HET),
    ("SchedulerParameters", "het_job_signal whole_hetjob whole_pack "
     "enable_hetjob enable_hetjob_steps disable_hetjob_steps", "ignored", HET, ""),
    ("SchedulerParameters", "assoc_limit_stop", "modelled",
     "limits=stop of +slurm: who is at a limit of resources stops the main pass in his partitions", _RULES),
    ("SchedulerParameters", "assoc_limit_continue", "modelled", "who is at a limit is passed over: Slurm's default",
     "tests/engine/machine/test_nodes_site.py"),
    ("SchedulerParameters", "max_switch_wait", "modelled", "switch_wait= of +slurm, for jobs with --switches",
     _SWITCHES),
    ("SchedulerParameters", "pack_serial_at_end", "modelled",
     "serial=last of +slurm: jobs of one core get the last node of the least weight", _WAYS),
    ("SchedulerParameters", "spec_cores_first", "ignored", "cores are counted, not told apart", ""),
    ("SchedulerParameters", "preempt_reorder_count preempt_youngest_first", "modelled", "which runs give way",
     _PREEMPT),
    ("SchedulerParameters", "preempt_strict_order preempt_youngest_order preempt_send_user_signal reclaim_licenses",
     "ignored", "jobs give way in the usual order", ""),
    ("SchedulerParameters", "reduce_completing_frag", "ignored", "nodes complete at once", ""),
    ("SchedulerParameters", "time_min_as_soft_limit", "ignored", "a job has one time limit", ""),
    ("SchedulerParameters", "delay_boot requeue_setup_env_fail requeue_on_resume_failure salloc_wait_nodes "
     "sbatch_wait_nodes", "ignored", POWER, ""),
    ("SchedulerParameters", "requeue_delay", "approximated",
     "of Slurm 26.05: when preempted jobs may begin again; those of nodes that failed after 121 s", _RULES),
    ("SchedulerParameters", "allow_zero_lic enable_user_top ignore_constraint_validation ignore_prefer_validation "
     "Ignore_NUMA inventory_interval kill_invalid_depend max_array_tasks max_depend_depth max_script_size "
     "max_submit_line_size no_backup_scheduling no_env_cache nohold_on_prolog_fail step_retry_count step_retry_time "
     "disable_remote_singleton disable_job_shrink correspond_after_task_cnt extra_constraints enable_job_state_cache "
     "bb_array_stage_cnt gs_time_slice jobs_per_user_per_hour enable_rpc_queue", "ignored", CLIENTS, ""),
    # Priorities
    ("PriorityType", "priority/multifactor", "modelled", "multifactor(...)", _PRIORITY),
    ("PriorityType", "priority/basic", "modelled", "fcfs, with ties=number of +slurm", _REQUEUES),
    ("slurm.conf", "PriorityWeightAge", "modelled",
     "age= of multifactor; without slurmdbd it has no effect, as in Slurm", _PRIORITY),
    ("slurm.conf", "PriorityWeightFairShare", "modelled",
     "fairshare= of multifactor, over the tree of accounts; without accounts, users have equal shares side by side",
     _SHARES),
    ("slurm.conf", "PriorityWeightJobSize", "modelled", "size= of multifactor", _PRIORITY),
    ("slurm.conf", "PriorityWeightPartition", "modelled",
     "partition= of multifactor; a job of several partitions has the largest factor of them", _TEXT),
    ("slurm.conf", "PriorityWeightQOS", "modelled", "qos= of multifactor", _TEXT),
    ("slurm.conf", "PriorityWeightTRES", "modelled",
     "tres= of multifactor: cpu, mem, node, billing, GPUs, as shares of the job's partition", _TRES),
    ("slurm.conf", "PriorityWeightAssoc PrioritySiteFactorPlugin PrioritySiteFactorParameters PriorityParameters",
     "ignored", "priorities have no such factor", ""),
    ("slurm.conf", "PriorityMaxAge", "modelled", "max_age= of multifactor", _PRIORITY),
    ("slurm.conf", "PriorityDecayHalfLife", "modelled", "half_life= of multifactor", _SHARES),
    ("slurm.conf", "PriorityCalcPeriod", "modelled", "period= of multifactor", _PRIORITY),
    ("slurm.conf", "PriorityFavorSmall", "modelled", "favor= of multifactor", _PRIORITY),
    ("slurm.conf", "PriorityUsageResetPeriod", "ignored", "usage decays and is never reset", ""),
    ("slurm.conf", "FairShareDampeningFactor", "modelled",
     "dampening= of multifactor with NO_FAIR_TREE; has no effect under Fair Tree, as in Slurm", _SHARES),
    ("PriorityFlags", "ACCRUE_ALWAYS", "modelled", "accrue=always of multifactor", _PRIORITY),
    ("PriorityFlags", "SMALL_RELATIVE_TO_TIME", "modelled", "relative=yes of multifactor", _PRIORITY),
    ("PriorityFlags", "FAIR_TREE", "modelled", "shares=tree of multifactor: Slurm's default", _SHARES),
    ("PriorityFlags", "NO_FAIR_TREE", "modelled", "shares=classic of multifactor", _SHARES),
    ("PriorityFlags", "NO_NORMAL_PART NO_NORMAL_QOS NO_NORMAL_ALL", "modelled",
     "factors count as they are, not divided by the largest", _TEXT),
    ("PriorityFlags", "NO_NORMAL_TRES", "modelled", "amounts=yes of multifactor: weights multiply amounts", _TRES),
    ("PriorityFlags", "NO_NORMAL_ASSOC", "ignored", "priorities have no such factor", ""),
    ("PriorityFlags", "CALCULATE_RUNNING", "modelled", "priorities of running jobs decide nothing", ""),
    ("PriorityFlags", "DEPTH_OBLIVIOUS", "ignored",
     "with NO_FAIR_TREE, what others in the account have used counts at every depth; in Slurm 22.05, the factors also "
     "depend on who has had a waiting job since slurmctld started", ""),
    ("PriorityFlags", "INCR_ONLY", "ignored", "priorities may fall", ""),
    ("PriorityFlags", "MAX_TRES", "modelled", "the largest weighted resource is billed, not the sum", _TRES),
    ("PriorityFlags", "MAX_TRES_GRES", "ignored", "not in Slurm 22.05", ""),
    # Preemption
    ("PreemptType", "preempt/none", "modelled", "no job is preempted", ""),
    ("PreemptType", "preempt/partition_prio preempt/qos", "modelled", "who gives way to whom", _PREEMPT),
    ("slurm.conf", "PreemptMode PreemptExemptTime", "approximated", PREEMPT, _PREEMPT),
    ("slurm.conf", "PreemptParameters", "approximated",
     "reorder_count and youngest_first, which are options preempt_... of SchedulerParameters until 22.05; no others",
     "tests/cluster/test_slurm_conf.py"),
    ("slurm.conf", "SchedulerTimeSlice", "ignored", "jobs are not gang scheduled", ""),
    # What else decides
    ("slurm.conf", "OverTimeLimit", "modelled", "overtime= of +slurm", _TEXT),
    ("slurm.conf", "EnforcePartLimits", "modelled",
     "a job beyond the limits of all its partitions does not run: left out and counted", "tests/site/test_jobs.py"),
    ("slurm.conf", "CompleteWait", "ignored", "nodes complete at once", ""),
    ("slurm.conf", "KillWait", "ignored", RECORDED, ""),
    ("slurm.conf", "MaxArraySize MaxJobCount MaxStepCount MaxTasksPerNode MinJobAge FirstJobId MaxNodeCount", "ignored",
     "the records have the jobs that were accepted", ""),
    ("slurm.conf", "JobRequeue", "approximated",
     "what becomes of jobs on nodes that go down by node events; each recorded run of a requeued job is a job",
     "tests/site/test_node_history.py"),
    ("slurm.conf", "RequeueExit RequeueExitHold", "ignored", "each run of a requeued job is a job", ""),
    ("slurm.conf", "JobSubmitPlugins CliFilterPlugins CliFilterParameters", "ignored",
     "the records have the jobs as the plugins left them", ""),
    ("slurm.conf", "DependencyParameters", "ignored", "the records do not say who waited for whom", ""),
    ("slurm.conf", "ResvOverRun ResvProlog ResvEpilog", "ignored", "jobs end with their reservation", ""),
    ("slurm.conf", "BurstBufferType", "ignored", "burst buffers are not simulated", ""),
    ("slurm.conf", "SuspendTime SuspendExcNodes SuspendExcParts SuspendTimeout SuspendRate ResumeTimeout ResumeRate",
     "approximated", IN_WHAT_IF, "tests/site/test_nodes_off.py"),
    ("slurm.conf", "SuspendExcStates SuspendProgram ResumeFailProgram ResumeProgram PowerParameters PowerPlugin",
     "ignored", POWER, ""),
    ("slurm.conf", "FederationParameters MCSPlugin MCSParameters", "ignored", "one cluster for all is simulated", ""),
)  # fmt: skip
