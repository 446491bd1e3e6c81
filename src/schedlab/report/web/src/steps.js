// What happens over time, as step functions whose means over any period are exact.

import { running } from "./axes.js";
import { countUpTo, sortedRows } from "./order.js";

/** Weights added up over time: events in order of time, with running totals. */
export class Ramp {
  constructor(times, order, weights = null) {
    const length = times.length;
    this.times = new Float64Array(length);
    this.total = new Float64Array(length);
    this.area = new Float64Array(length);
    let total = 0, area = 0, before = length ? times[order[0]] : 0;
    for (let i = 0; i < length; i++) {
      const row = order[i], at = times[row];
      area += total * (at - before);
      total += weights === null ? 1 : weights[row];
      before = this.times[i] = at;
      this.total[i] = total;
      this.area[i] = area;
    }
  }

  /** Value right after a moment. */
  at(time) {
    const last = countUpTo(this.times, time) - 1;
    return last < 0 ? 0 : this.total[last];
  }

  /** Integral up to a moment. */
  areaUntil(time) {
    const last = countUpTo(this.times, time) - 1;
    return last < 0 ? 0 : this.area[last] + this.total[last] * (time - this.times[last]);
  }
}

/** What has come minus what has gone: a queue, the processors in use. */
export class Level {
  constructor(comes, goes, scale = 1) {
    this.comes = comes;
    this.goes = goes;
    this.scale = scale;
  }

  at(time) {
    return (this.comes.at(time) - this.goes.at(time)) * this.scale;
  }

  mean(begin, end) {
    const area = this.comes.areaUntil(end) - this.comes.areaUntil(begin)
      - this.goes.areaUntil(end) + this.goes.areaUntil(begin);
    return (area * this.scale) / (end - begin);
  }

  /** Means over the equal parts of a period. */
  means(begin, end, bins) {
    const values = new Float64Array(bins), width = (end - begin) / bins;
    let before = this.comes.areaUntil(begin) - this.goes.areaUntil(begin);
    for (let i = 0; i < bins; i++) {
      const edge = begin + (i + 1) * width;
      const come = this.comes.areaUntil(edge), area = come - this.goes.areaUntil(edge);
      // What is left of the difference of two large sums where nothing is: no axis of 1e-12 jobs.
      const rest = 8 * Number.EPSILON * come;
      values[i] = area - before > rest ? ((area - before) * this.scale) / width : 0;
      before = area;
    }
    return values;
  }
}

/** A step function given by its changes: `values[i]` holds from `times[i]` on. */
export class Steps extends Level {
  constructor(times, values, scale = 1) {
    const jumps = new Float64Array(values.length);
    for (let i = 0; i < values.length; i++) jumps[i] = values[i] - (i ? values[i - 1] : 0);
    const order = new Int32Array(times.length).map((_, i) => i);
    super(new Ramp(times, order, jumps), new Ramp(new Float64Array(0), new Int32Array(0)), scale);
  }
}

/** Number of different users with a job running. */
export function runningUsers(decisions, users) {
  const running = new Map(), times = [], values = [];
  let now = 0;
  sweep(decisions, (time, row, change) => {
    const before = running.get(users[row]) ?? 0;
    running.set(users[row], before + change);
    if (before + change === (change > 0 ? 1 : 0)) {
      now += change;
      if (times.length && times.at(-1) === time) values[values.length - 1] = now;
      else times.push(time), values.push(now);
    }
  });
  return new Steps(Float64Array.from(times), Float64Array.from(values));
}

/** Share of the machine that is free while at least one job waits. */
export function idleWhileWaiting(queue, busy, size) {
  // Both are levels; their values change only at their events, which are merged.
  const times = mergeTimes([queue.comes.times, queue.goes.times, busy.comes.times, busy.goes.times]);
  const values = new Float64Array(times.length);
  const [came, gone, started, ended] = [queue.comes, queue.goes, busy.comes, busy.goes].map((ramp) => new Cursor(ramp));
  let kept = 0;
  for (const time of times) {
    const waiting = came.at(time) - gone.at(time), used = started.at(time) - ended.at(time);
    const idle = waiting > 0 ? Math.max(0, 1 - used / size) : 0;
    if (kept && values[kept - 1] === idle) continue;
    times[kept] = time;
    values[kept++] = idle;
  }
  return new Steps(times.slice(0, kept), values.slice(0, kept));
}

/** Share of a resource that is free while jobs wait for it and each of them needs more than that. */
export function unfitting(decisions, needs, inUse, size) {
  const { queued, start, queueOrder, startOrder } = decisions;
  const { comes, goes } = inUse, started = new Cursor(comes), ended = new Cursor(goes);
  const times = mergeTimes([decisions.series("queue_length").comes.times, comes.times, goes.times]);
  const sizes = [...new Set(needs)].filter((need) => need > 0).sort((a, b) => a - b), rank = new Map(sizes.map((each, i) => [each, i]));
  const waiting = new Int32Array(sizes.length), values = new Float64Array(times.length);
  let kept = 0, smallest = sizes.length, i = 0, j = 0;
  for (const time of times) {
    for (; i < queueOrder.length && queued[queueOrder[i]] <= time; i++) {
      const place = rank.get(needs[queueOrder[i]]);
      if (place === undefined) continue;
      waiting[place]++;
      if (place < smallest) smallest = place;
    }
    for (; j < startOrder.length && start[startOrder[j]] <= time; j++) {
      const place = rank.get(needs[startOrder[j]]);
      if (place !== undefined) waiting[place]--;
    }
    while (smallest < sizes.length && !waiting[smallest]) smallest++;
    const free = Math.max(0, size - started.at(time) + ended.at(time));
    const value = smallest < sizes.length && sizes[smallest] > free ? free / size : 0;
    if (kept && values[kept - 1] === value) continue;
    times[kept] = time;
    values[kept++] = value;
  }
  return new Steps(times.slice(0, kept), values.slice(0, kept));
}

/** Of nodes with names: the share that run something, and the share of the machine that is free in those. */
export function partlyUsed(pieces, cores) {
  const all = cores.reduce((sum, each) => sum + each, 0), { times, nodes, change } = onNodes(pieces, cores);
  const order = sortedRows(Float64Array.from(times)), busy = new Int32Array(cores.length);
  const moments = [], used = [], partly = [];
  let runningNodes = 0, free = 0;
  for (let i = 0; i < order.length; i++) {
    const row = order[i], node = nodes[row], before = busy[node], after = (busy[node] += change[row]);
    runningNodes += (after > 0) - (before > 0);
    free += (after > 0 ? cores[node] - after : 0) - (before > 0 ? cores[node] - before : 0);
    if (i + 1 < order.length && times[order[i + 1]] === times[row]) continue;
    moments.push(times[row]);
    used.push(runningNodes / cores.length);
    partly.push(free / all);
  }
  const at = Float64Array.from(moments);
  return { used: new Steps(at, used), partly: new Steps(at, partly) };
}

/** Share of the GPUs that are free on nodes whose processors are all held: no job can use them. */
export function stranded(pieces, cores, gpuPieces, gpus) {
  const held = onNodes(pieces, cores), heldGpus = onNodes(gpuPieces, gpus), ofCores = held.times.length;
  const order = sortedRows(Float64Array.from([...held.times, ...heldGpus.times]));
  const busy = new Int32Array(cores.length), busyGpus = new Float64Array(cores.length);
  const all = gpus.reduce((sum, each) => sum + each, 0), moments = [], shares = [];
  const lost = (node) => (busy[node] >= cores[node] ? Math.max(0, gpus[node] - busyGpus[node]) : 0);
  let free = cores.reduce((sum, _, node) => sum + lost(node), 0);
  for (let i = 0; i < order.length; i++) {
    const isGpu = order[i] >= ofCores, row = order[i] - (isGpu ? ofCores : 0), { times, nodes, change } = isGpu ? heldGpus : held;
    const node = nodes[row], before = lost(node);
    (isGpu ? busyGpus : busy)[node] += change[row];
    free += lost(node) - before;
    const next = order[i + 1];
    if (next !== undefined && (next >= ofCores ? heldGpus.times[next - ofCores] : held.times[next]) === times[row]) continue;
    moments.push(times[row]);
    shares.push(free / all);
  }
  return new Steps(Float64Array.from(moments), shares);
}

/** What pieces take and give back on each node: when, where, and how much. */
function onNodes({ start, end, low, high }, sizes) {
  const first = Float64Array.from(running(sizes)), times = [], nodes = [], change = [];
  for (let piece = 0; piece < start.length; piece++) {
    if (end[piece] <= start[piece]) continue;
    let node = countUpTo(first, low[piece]) - 1;
    for (let from = low[piece]; from < high[piece]; node++) {
      const to = Math.min(high[piece], first[node + 1]);
      if (to <= from) continue;
      times.push(start[piece], end[piece]);
      nodes.push(node, node);
      change.push(to - from, from - to);
      from = to;
    }
  }
  return { times, nodes, change };
}

class Cursor {
  constructor(ramp) {
    this.ramp = ramp;
    this.next = 0;
  }

  /** Value right after a moment; moments must ascend. */
  at(time) {
    const { times, total } = this.ramp;
    while (this.next < times.length && times[this.next] <= time) this.next++;
    return this.next ? total[this.next - 1] : 0;
  }
}

/** Merge ascending lists into one, each time once. */
function mergeTimes(lists) {
  const all = new Float64Array(lists.reduce((sum, list) => sum + list.length, 0)), next = lists.map(() => 0);
  let kept = 0;
  for (;;) {
    let time = Infinity;
    for (let k = 0; k < lists.length; k++) if (lists[k][next[k]] < time) time = lists[k][next[k]];
    if (time === Infinity) return all.slice(0, kept);
    all[kept++] = time;
    for (let k = 0; k < lists.length; k++) while (lists[k][next[k]] === time) next[k]++;
  }
}

/** Visit all starts and ends in order of time, ends of a second first. */
function sweep({ start: starts, end: ends, startOrder: first, endOrder: last }, visit) {
  let i = 0, j = 0;
  while (i < first.length || j < last.length) {
    const ending = j < last.length && (i >= first.length || ends[last[j]] <= starts[first[i]]);
    // A job of 0 seconds must begin before it ends.
    if (ending && ends[last[j]] > starts[last[j]]) visit(ends[last[j]], last[j++], -1);
    else if (ending) j++;
    else {
      const row = first[i++];
      if (ends[row] > starts[row]) visit(starts[row], row, 1);
    }
  }
}
