// The jobs and what each scheduler decided, as the views use them. What is derived is computed once, when it is needed.

import { Container, FORMAT } from "./container.js";
import { axesOf, toNodes } from "./axes.js";
import { countUpTo, sortedRows } from "./order.js";
import { packRows, Pieces } from "./pieces.js";
import { makeSeries, neededGpus } from "./quantities.js";

export const BACKFILLED = 1, KILLED = 2, FAILED = 4, INTERRUPTED = 8;

/** What a log says of the end of a job. */
export const LOG_FAILED = 0, LOG_CANCELLED = 5;

/** Compute a property at its first use and keep it. */
function once(object, key, compute) {
  return object.kept.has(key) ? object.kept.get(key) : (object.kept.set(key, compute()), object.kept.get(key));
}

/** All that a page shows: the jobs, and the schedules by number. */
export class Model {
  static async read(index, load) {
    if (index.format !== FORMAT) throw new Error("this page was made by another version of schedlab");
    const container = new Container(load);
    return new Model(index, container, await container.readAll(index.columns));
  }

  constructor(index, container, columns) {
    this.index = index;
    this.container = container;
    this.count = index.jobs;
    this.epoch = index.epoch;
    this.length = index.length;
    this.size = index.machine.size;
    this.unit = index.machine.unit;
    this.nodes = index.machine.nodes;
    this.gpuParts = index.machine.gpuParts;
    this.axes = axesOf(index.machine);
    this.columns = columns;
    this.kept = new Map();
    this.groups = Object.keys(index.groups).filter((group) => columns[group].some((value) => value !== columns[group][0]));
  }

  /** Return a schedule; its columns are decompressed at the first call. */
  schedule(number) {
    return once(this, `schedule ${number}`, async () => {
      const facts = this.index.schedules[number];
      const { wait, run, flags, held } = facts;
      const columns = await this.container.readAll({ wait, run, flags, held });
      const runs = facts.runs ? await this.container.readAll(facts.runs) : null;
      const pieces = await this.container.readAll(facts.pieces);
      const gpus = facts.gpus ? await this.container.readAll(facts.gpus) : null;
      const reasons = facts.reasons ? await this.container.readAll(facts.reasons) : null;
      const closures = facts.closures ? await this.container.readAll(facts.closures) : null;
      const memory = await this.container.read(facts.memory);
      return new Decisions(this, facts, columns, { runs, pieces, gpus, reasons, memory, closures });
    });
  }

  /** Rows that the machine needs in these schedules: a log may book more than there is, which others need not show. */
  lanesOf(rows, schedules) {
    const axis = this.axes[rows];
    if (this.nodes || !schedules.length) return axis.lanes;
    const most = Math.max(...schedules.map((number) => this.index.schedules[number].lanes));
    return rows === "node" ? Math.ceil(most / this.index.machine.perNode) : most;
  }

  /** What a way to group jobs is called. */
  title(group) {
    return group === "sizeClass" ? "Size class" : this.index.groups[group];
  }

  /** Ways to group jobs: [key, title]. */
  get groupChoices() {
    return ["sizeClass", ...this.groups].map((group) => [group, this.title(group)]);
  }

  /** What a number of a group is called. */
  label(group, number) {
    if (group === "sizeClass") return this.index.sizeClasses[number];
    const text = this.index.labels[group]?.[number];
    if (text) return text;
    return number < 0 ? "unknown" : `${group} ${number}`;
  }

  /** Row of a job by its number in the log, or -1. */
  rowOf(id) {
    return this.columns.id.indexOf(id);
  }

  /** Values of a group, those with most jobs first: [value, jobs]. */
  members(group) {
    return once(this, `members ${group}`, () => {
      const jobs = new Map();
      for (const value of this.columns[group]) jobs.set(value, (jobs.get(value) ?? 0) + 1);
      const list = [...jobs];
      return group === "sizeClass" ? list.sort((a, b) => a[0] - b[0]) : list.sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    });
  }

  get submitOrder() {
    return once(this, "submit order", () => sortedRows(this.columns.submit));
  }
}

/** What one scheduler decided. Times are seconds after the first submission. */
class Decisions {
  constructor(model, facts, columns, { runs, pieces, gpus, reasons, memory, closures }) {
    this.model = model;
    this.name = facts.name;
    this.lanes = facts.lanes;
    this.kept = new Map();
    this.runs = runs;
    this.reasons = reasons;
    this.memory = memory;
    this.closures = closures;
    this.reasonNames = facts.reasonNames;
    const { submit } = model.columns, jobs = model.count;
    const whole = !(columns.wait instanceof Float64Array || columns.run instanceof Float64Array);
    const Times = whole && model.length < 2 ** 31 ? Int32Array : Float64Array;
    this.start = new Times(jobs);
    this.end = new Times(jobs);
    this.queued = columns.held ? new Times(jobs) : submit;
    this.flags = columns.flags;
    for (let job = 0; job < jobs; job++) {
      this.start[job] = submit[job] + columns.wait[job];
      this.end[job] = this.start[job] + columns.run[job];
      if (columns.held) this.queued[job] = submit[job] + columns.held[job];
    }
    this.placed = pieces;
    this.placedGpus = gpus;
    this.spans = runs ? this.spansOfRuns(runs, Times) : { job: null, start: this.start, end: this.end };
  }

  spansOfRuns(runs, Times) {
    const end = new Times(runs.start.length);
    for (let i = 0; i < end.length; i++) end[i] = runs.start[i] + runs.length[i];
    return { job: runs.job, start: Times === Int32Array ? runs.start : Float64Array.from(runs.start), end };
  }

  wait(job) {
    return this.start[job] - this.queued[job];
  }

  turnaround(job) {
    return this.end[job] - this.queued[job];
  }

  runTime(job) {
    return this.end[job] - this.start[job];
  }

  slowdown(job) {
    const run = Math.max(this.runTime(job), 1);
    return (this.wait(job) + run) / run;
  }

  boundedSlowdown(job) {
    return Math.max(1, this.turnaround(job) / Math.max(this.runTime(job), 10));
  }

  has(job, flag) {
    return (this.flags[job] & flag) !== 0;
  }

  /** Whether a job ended at its requested time: its last run was neither done nor interrupted. */
  atRequest(job) {
    return this.has(job, KILLED) && !this.has(job, INTERRUPTED);
  }

  /** How many runs of each job were interrupted by a node, by a job that preempted them, or by the end of a reservation. */
  get interruptions() {
    return once(this, "interruptions", () => {
      const times = new Uint32Array(this.model.count), { runs } = this;
      if (runs) runs.flags.forEach((flags, run) => flags & INTERRUPTED && times[runs.job[run]]++);
      return times;
    });
  }

  /** Whether a job ended as the log says, and not at its requested time. */
  endedAs(job, status) {
    return this.model.columns.status?.[job] === status && !this.has(job, KILLED);
  }

  /** Rectangles of the machine by processor, node or GPU: what each run held, in order of their starts. */
  machinePieces(rows) {
    return once(this, `machine ${rows}`, () => {
      if (rows === "node") return toNodes(this.machinePieces("processor"), this.model.index.machine);
      const pieces = rows === "GPU" ? this.piecesOf(this.placedGpus, this.model.gpuParts) : this.piecesOf(this.placed);
      if (rows === "processor") this.placed = null;
      return pieces;
    });
  }

  /** `parts`: of how many parts a row is made. */
  piecesOf({ count, first, width }, parts = 1) {
    const { spans } = this, total = first.length, offsets = new Int32Array(count.length);
    for (let span = 1; span < count.length; span++) offsets[span] = offsets[span - 1] + count[span - 1];
    const start = new spans.start.constructor(total), end = new spans.end.constructor(total);
    const Rows = parts > 1 ? Float64Array : Int32Array;
    const low = new Rows(total), high = new Rows(total), job = new Int32Array(total);
    const apart = this.interruptions.some((times) => times) ? new Int32Array(total) : null, jobs = this.model.count;
    const { processors } = this.model.columns;
    let piece = 0;
    for (const span of this.spanOrder)
      for (let from = offsets[span], to = from + count[span], held = 0; from < to; from++, piece++) {
        start[piece] = spans.start[span];
        end[piece] = spans.end[span];
        job[piece] = spans.job ? spans.job[span] : span;
        const wide = width[from] || processors[job[piece]] - held; // the last one has what is left
        held += wide;
        low[piece] = first[from] / parts;
        high[piece] = (first[from] + wide) / parts;
        if (apart) apart[piece] = job[piece] + (this.runs.flags[span] & INTERRUPTED ? jobs : 0);
      }
    return new Pieces(start, end, low, high, job, apart, jobs);
  }

  /** GPUs (or their parts, where jobs share them) that each job needs. */
  get neededGpus() {
    return once(this, "needed GPUs", () => neededGpus(this));
  }

  /** MiB that the last run of a job held. */
  heldMemory(job) {
    const { job: of } = this.spans;
    return this.memory[of ? of.lastIndexOf(job) : job];
  }

  /** What the last run of a job held on each node: [node, processors or GPUs]. */
  heldBy(job, rows) {
    const { job: of, start, low, high } = this.machinePieces(rows), { starts } = this.model.axes[rows], held = new Map();
    for (let piece = 0; piece < of.length; piece++) {
      if (of[piece] !== job || start[piece] !== this.start[job]) continue;
      for (let node = countUpTo(starts, low[piece]) - 1; starts[node] < high[piece]; node++) {
        const amount = Math.min(high[piece], starts[node + 1]) - Math.max(low[piece], starts[node]);
        if (amount > 0) held.set(node, (held.get(node) ?? 0) + amount);
      }
    }
    return held;
  }

  /** Rectangles of the queue: one row per waiting job, from its submission to its start. */
  get queuePieces() {
    return once(this, "queue", () => {
      const { rows, used } = packRows(this.queued, this.start, this.queueOrder, this.startOrder);
      const jobs = this.queueOrder.filter((job) => rows[job] >= 0);
      const pick = (values) => new values.constructor(jobs.length).map((_, i) => values[jobs[i]]);
      const low = pick(rows);
      return { pieces: new Pieces(pick(this.queued), pick(this.start), low, low.map((row) => row + 1), jobs), rows: used };
    });
  }

  /** Runs in order of their starts. */
  get spanOrder() {
    return this.spans.job ? once(this, "span order", () => sortedRows(this.spans.start)) : this.startOrder;
  }

  get startOrder() {
    return once(this, "start order", () => sortedRows(this.start));
  }

  get endOrder() {
    return once(this, "end order", () => sortedRows(this.end));
  }

  get queueOrder() {
    return once(this, "queue order", () => (this.queued === this.model.columns.submit
      ? this.model.submitOrder : sortedRows(this.queued)));
  }

  /** Jobs whose column (in a given order) has exactly this value. */
  jobsAt(values, order, value) {
    const sorted = once(this, order, () => new Float64Array(order.length).map((_, i) => values[order[i]]));
    const stop = countUpTo(sorted, value), found = [];
    for (let i = stop - 1; i >= 0 && sorted[i] === value; i--) found.push(order[i]);
    return found.reverse();
  }

  /** A quantity over time, by its key in SERIES. */
  series(key) {
    return once(this, `series ${key}`, () => makeSeries(this, key));
  }

  /** Processors that are free right after a moment. */
  freeAt(time) {
    return Math.max(0, this.model.size - Math.round(this.series("utilisation").at(time) * this.model.size));
  }
}
