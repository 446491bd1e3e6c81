// Why a job waited, as far as a schedule shows it. Schedulers' priorities are not recorded, and nothing here guesses them.

import { countUpTo } from "./order.js";

const MOST_NAMED = 5;

/** Everything that the schedule says about one job's wait. */
export function explain(decisions, job) {
  const { model } = decisions;
  const queued = decisions.queued[job], start = decisions.start[job];
  const split = splitWait(decisions, job);
  const before = [], overtook = [], passed = [];
  for (let other = 0; other < model.count; other++) {
    if (other === job || decisions.start[other] <= queued) continue;
    const earlier = decisions.queued[other] < queued || (decisions.queued[other] === queued && other < job);
    if (decisions.start[other] < start) {
      if (earlier) before.push(other);
      else if (decisions.queued[other] < start) overtook.push(other);
    } else if (earlier && decisions.start[other] > start) passed.push(other);
  }
  return {
    ...split,
    held: queued - model.columns.submit[job],
    before: summary(decisions, before),
    overtook: summary(decisions, overtook),
    passed: summary(decisions, passed),
    queueLength: before.length + passed.length,
    freeThen: decisions.freeAt(queued),
    freedBy: split.wait > 0 ? decisions.jobsAt(decisions.end, decisions.endOrder, start).filter((other) => other !== job) : [],
  };
}

/** Split a wait into the time in which less than the job needs was free, and the time in which enough was. */
function splitWait(decisions, job) {
  const { model } = decisions, queued = decisions.queued[job], start = decisions.start[job];
  const gpus = model.axes.GPU ? decisions.neededGpus[job] : 0, ramps = [];
  const watch = (key, size, need) => {
    const { comes, goes } = decisions.series(key), at = [comes, goes].map(({ times }) => countUpTo(times, queued));
    const used = (ramp, i) => (i ? ramp.total[i - 1] : 0);
    ramps.push({
      next: () => Math.min(comes.times[at[0]] ?? Infinity, goes.times[at[1]] ?? Infinity),
      pass: (time) => [comes, goes].forEach(({ times }, k) => { while (times[at[k]] === time) at[k]++; }),
      lacks: () => size - used(comes, at[0]) + used(goes, at[1]) < need,
    });
  };
  watch("utilisation", model.size, model.columns.processors[job]);
  if (gpus) watch("utilisation_gpus", model.axes.GPU.lanes * model.gpuParts, gpus);
  let resources = 0;
  for (let now = queued, next; now < start; now = next) {
    next = Math.min(start, ...ramps.map((ramp) => ramp.next()));
    if (ramps.some((ramp) => ramp.lacks())) resources += next - now;
    for (const ramp of ramps) ramp.pass(next);
  }
  const wait = start - queued;
  return { wait, resources, order: wait - resources, gpus: gpus / model.gpuParts };
}

/** How many jobs, their work in processor-seconds, and the largest of them. */
function summary(decisions, jobs) {
  const { processors } = decisions.model.columns;
  const work = (job) => processors[job] * decisions.runTime(job);
  const total = jobs.reduce((sum, job) => sum + work(job), 0);
  const largest = [...jobs].sort((a, b) => work(b) - work(a) || a - b).slice(0, MOST_NAMED);
  return { count: jobs.length, work: total, largest };
}

/** Jobs that went before a job in `later` and not in `earlier`: who took its turn. */
export function newlyBefore(earlier, later, job) {
  const found = [];
  for (let other = 0; other < later.model.count; other++) {
    if (other === job) continue;
    const during = later.start[other] >= later.queued[job] && later.start[other] < later.start[job];
    if (during && earlier.start[other] >= earlier.start[job]) found.push(other);
  }
  return summary(later, found);
}

const LONGEST_CHAIN = 12;

/** Follow a delay back: each link is a job whose end made room for the one before, and that was itself delayed. */
export function chainOfCauses(earlier, later, job) {
  const links = [];
  const seen = new Set([job]);
  let current = job;
  while (links.length < LONGEST_CHAIN) {
    if (later.wait(current) <= 0) return { links, end: "submitted" };
    const enders = later.jobsAt(later.end, later.endOrder, later.start[current]).filter((other) => !seen.has(other));
    if (!enders.length) return { links, end: "nobody" };
    const delay = (other) => later.end[other] - earlier.end[other];
    const next = enders.reduce((best, other) => (delay(other) > delay(best) ? other : best));
    links.push({ job: next, delay: delay(next) });
    if (delay(next) <= 0) return { links, end: "swapped" };
    seen.add(next);
    current = next;
  }
  return { links, end: "longer" };
}
