// Rectangles of a chart, sorted by start: which job holds which lanes from when to when.
//
// Blocks of 64 neighbours know their latest end. A view of a part of the time looks only into blocks that can reach it,
// so that zooming costs what is visible, also where a few jobs last for months.

import { countBelow, sortedRows } from "./order.js";

const BLOCK = 64;

export class Pieces {
  /** Columns of one length, in any order: start, end, first lane, lane after the last, job and run. */
  constructor(start, end, low, high, job, run = job) {
    const order = sortedRows(start);
    this.start = take(start, order);
    this.end = take(end, order);
    this.low = take(low, order);
    this.high = take(high, order);
    this.job = take(job, order);
    this.run = run === job ? this.job : take(run, order);
    this.blockEnd = new Float64Array(Math.ceil(order.length / BLOCK)).fill(-Infinity);
    for (let i = 0; i < order.length; i++) {
      const block = (i / BLOCK) | 0;
      if (this.end[i] > this.blockEnd[block]) this.blockEnd[block] = this.end[i];
    }
  }

  get length() {
    return this.start.length;
  }

  /** Call `visit(from, to)` for ranges of pieces that may overlap a period. */
  ranges(begin, end, visit) {
    const stop = countBelow(this.start, end);
    const blocks = Math.ceil(stop / BLOCK);
    let from = -1;
    for (let block = 0; block < blocks; block++) {
      const reaches = this.blockEnd[block] > begin;
      if (reaches && from < 0) from = block * BLOCK;
      if (!reaches && from >= 0) {
        visit(from, block * BLOCK);
        from = -1;
      }
    }
    if (from >= 0) visit(from, stop);
  }

  /** Return how many pieces may overlap a period: at most 63 too many for each range. */
  countIn(begin, end) {
    let total = 0;
    this.ranges(begin, end, (from, to) => (total += to - from));
    return total;
  }

  /** Return the piece at a moment and lane, or -1. */
  at(time, lane) {
    let found = -1;
    this.ranges(time, time + 1e-9, (from, to) => {
      for (let i = from; i < to; i++)
        if (this.start[i] <= time && time < this.end[i] && this.low[i] <= lane && lane < this.high[i]) found = i;
    });
    return found;
  }
}

function take(values, order) {
  const taken = new values.constructor(order.length);
  for (let i = 0; i < order.length; i++) taken[i] = values[order[i]];
  return taken;
}

/** Give each interval the lowest row that is free, in the order of the begins. Returns rows (-1: empty interval). */
export function packRows(begin, end) {
  const order = sortedRows(begin);
  const leaving = sortedRows(end);
  const rows = new Int32Array(begin.length).fill(-1);
  const free = new Heap(begin.length);
  let next = 0, used = 0;
  for (const item of order) {
    if (end[item] <= begin[item]) continue;
    for (; next < leaving.length && end[leaving[next]] <= begin[item]; next++)
      if (rows[leaving[next]] >= 0) free.push(rows[leaving[next]]);
    rows[item] = free.size ? free.pop() : used++;
  }
  return { rows, used };
}

/** A binary heap of whole numbers, the smallest on top. */
class Heap {
  constructor(room) {
    this.items = new Int32Array(room);
    this.size = 0;
  }

  push(value) {
    const { items } = this;
    let at = this.size++;
    for (let above = (at - 1) >> 1; at > 0 && items[above] > value; above = (at - 1) >> 1) {
      items[at] = items[above];
      at = above;
    }
    items[at] = value;
  }

  pop() {
    const { items } = this;
    const top = items[0], last = items[--this.size];
    let at = 0;
    for (let below = 1; below < this.size; below = 2 * at + 1) {
      if (below + 1 < this.size && items[below + 1] < items[below]) below++;
      if (items[below] >= last) break;
      items[at] = items[below];
      at = below;
    }
    items[at] = last;
    return top;
  }
}
