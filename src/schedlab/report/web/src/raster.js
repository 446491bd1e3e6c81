// Which job is at each pixel. A pixel shows the job at its centre, so that the picture of many small jobs is a fair sample
// of the machine. Rectangles never overlap, so that the work is bounded by pixels plus visible rectangles.

const COARSE_COLUMNS = 8192;
const MOST_AT_ONCE = 200_000;

/** Draws jobs into pixels, and keeps a coarse picture of the whole time for views of very many jobs. */
export class Raster {
  constructor(pieces) {
    this.pieces = pieces;
    this.jobs = new Int32Array(0);
    this.coarse = null;
  }

  /** Return the job at each pixel of a window, row by row from the top; -1 where there is none. */
  paint(columns, rows, window) {
    if (this.jobs.length < columns * rows) this.jobs = new Int32Array(columns * rows);
    const jobs = this.jobs.subarray(0, columns * rows);
    const { begin, end } = window, step = (end - begin) / columns;
    // Centres lie on a grid that does not move with the window, so that panning moves the picture as it is.
    const snapped = { ...window, begin: Math.round(begin / step) * step, step };
    // The coarse picture is worth its price when the lanes stay as they are.
    const key = `${window.low} ${window.high} ${rows}`, same = key === this.key;
    this.key = key;
    const many = this.pieces.countIn(begin, end) > MOST_AT_ONCE;
    if (many && same && window.length / COARSE_COLUMNS <= 4 * step) this.sample(jobs, columns, rows, snapped);
    else fill(this.pieces, jobs, columns, rows, snapped, end);
    return jobs;
  }

  /** Take pixels from the coarse picture, which is made anew when the lanes or the rows change. */
  sample(jobs, columns, rows, window) {
    const { low, high, length } = window, { key } = this;
    if (this.coarse?.key !== key) {
      const all = this.coarse?.jobs.length === COARSE_COLUMNS * rows ? this.coarse.jobs : new Int32Array(COARSE_COLUMNS * rows);
      fill(this.pieces, all, COARSE_COLUMNS, rows, { low, high, begin: 0, step: length / COARSE_COLUMNS }, length);
      this.coarse = { key, jobs: all };
    }
    const source = new Int32Array(columns), scale = COARSE_COLUMNS / length;
    for (let x = 0; x < columns; x++) {
      const at = Math.floor((window.begin + (x + 0.5) * window.step) * scale);
      source[x] = Math.min(Math.max(at, 0), COARSE_COLUMNS - 1);
    }
    for (let y = 0, to = 0, from = 0; y < rows; y++, from += COARSE_COLUMNS)
      for (let x = 0; x < columns; x++) jobs[to++] = this.coarse.jobs[from + source[x]];
  }
}

function fill(pieces, jobs, columns, rows, { begin, step, low, high }, end) {
  jobs.fill(-1);
  const { start, end: ends, low: lows, high: highs, job } = pieces;
  const across = 1 / step, down = rows / (high - low);
  const ranges = pieces.ranges(begin, end + step);
  for (let range = 0; range < ranges.length; range += 2) {
    const to = ranges[range + 1];
    for (let i = ranges[range]; i < to; i++) {
      let left = Math.ceil((start[i] - begin) * across - 0.5), right = Math.ceil((ends[i] - begin) * across - 0.5);
      if (left >= right || right <= 0 || left >= columns) continue;
      let top = Math.ceil((high - highs[i]) * down - 0.5), bottom = Math.ceil((high - lows[i]) * down - 0.5);
      if (top >= bottom || bottom <= 0 || top >= rows) continue;
      if (left < 0) left = 0;
      if (right > columns) right = columns;
      if (top < 0) top = 0;
      if (bottom > rows) bottom = rows;
      const value = job[i];
      // A loop: to call TypedArray.fill for a few pixels costs ten times as much.
      for (let y = top; y < bottom; y++)
        for (let at = y * columns + left, stop = y * columns + right; at < stop; at++) jobs[at] = value;
    }
  }
}
