// Rectangles of a chart, sorted by start: which job holds which lanes from when to when.
//
// Blocks of 64 neighbours know their latest end. A view of a part of the time looks only into blocks that can reach it,
// so that zooming costs what is visible, also where a few jobs last for months.

import { countBelow } from "./order.js";

const BLOCK = 64;

export class Pieces {
  /**
   * Columns of one length, ascending by start: start, end, first lane, lane after the last, job; and, if some belong to
   * runs that were interrupted, the places of their colours in a palette that has one more for each of `jobs` jobs.
   */
  constructor(start, end, low, high, job, apart = null, jobs = 0) {
    Object.assign(this, { start, end, low, high, job, apart, jobs });
    this.blockEnd = new Float64Array(Math.ceil(start.length / BLOCK)).fill(-Infinity);
    for (let i = 0; i < start.length; i++) {
      const block = (i / BLOCK) | 0;
      if (end[i] > this.blockEnd[block]) this.blockEnd[block] = end[i];
    }
  }

  get length() {
    return this.start.length;
  }

  /** Return the place of each piece's colour in a palette. */
  places(palette) {
    return this.apart && palette.length > this.jobs ? this.apart : this.job;
  }

  /** Return ranges of pieces that may overlap a period, as from, to, from, to, ... */
  ranges(begin, end) {
    const stop = countBelow(this.start, end), blocks = Math.ceil(stop / BLOCK), found = [];
    let from = -1;
    for (let block = 0; block < blocks; block++) {
      const reaches = this.blockEnd[block] > begin;
      if (reaches && from < 0) from = block * BLOCK;
      if (!reaches && from >= 0) {
        found.push(from, block * BLOCK);
        from = -1;
      }
    }
    if (from >= 0) found.push(from, stop);
    return found;
  }

  /** Return how many pieces may overlap a period: at most 63 too many for each range. */
  countIn(begin, end) {
    return this.ranges(begin, end).reduce((sum, limit, i) => sum + (i % 2 ? limit : -limit), 0);
  }

  /** Return the lane after the last that a piece holds in a period. */
  highest(begin, end) {
    const ranges = this.ranges(begin, end);
    let most = 0;
    for (let range = 0; range < ranges.length; range += 2)
      for (let i = ranges[range]; i < ranges[range + 1]; i++) if (this.end[i] > begin && this.high[i] > most) most = this.high[i];
    return most;
  }

  /** Return the piece at a moment and lane, or -1. */
  at(time, lane) {
    const ranges = this.ranges(time, time + 1e-9);
    for (let range = 0; range < ranges.length; range += 2)
      for (let i = ranges[range]; i < ranges[range + 1]; i++)
        if (this.start[i] <= time && time < this.end[i] && this.low[i] <= lane && lane < this.high[i]) return i;
    return -1;
  }
}

/** Give each interval the lowest row that is free. Rows are -1 for empty intervals.
 * `entering` and `leaving` are the intervals in ascending order of begin and end. */
export function packRows(begin, end, entering, leaving) {
  const rows = new Int32Array(begin.length).fill(-1);
  const free = new Heap(begin.length);
  let next = 0, used = 0;
  for (const item of entering) {
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
