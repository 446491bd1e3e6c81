// The colour of each pixel. A pixel shows the job at its centre, so that the picture of many small jobs is a fair sample of
// the machine. Rectangles never overlap, so that the work is bounded by pixels plus visible rectangles.
//
// Of views of very many jobs a coarse level is kept: one picture of the whole time. It is made here and not carried in the
// page: to make it takes less time than to decompress it, and it would have to be carried for every choice of rows.

const COARSE_COLUMNS = 8192;
export const MOST_AT_ONCE = 200_000;

/** Draws rectangles into pixels, and keeps a coarse picture of the whole time for views of very many jobs. */
export class Raster {
  constructor(pieces) {
    this.pieces = pieces;
    this.coarse = null;
  }

  /** Fill pixels with a window, row by row from the top, in the colour of each job; `idle` where there is none. */
  paint(pixels, columns, rows, window, palette, idle) {
    const { begin, end } = window, step = (end - begin) / columns;
    // Centres lie on a grid that does not move with the window, so that panning moves the picture as it is.
    const snapped = { ...window, begin: Math.round(begin / step) * step, step };
    // The coarse picture is worth its price when the lanes and the colours stay as they are.
    const key = { low: window.low, high: window.high, rows, palette, idle }, same = alike(key, this.key);
    this.key = key;
    const many = same && this.pieces.countIn(begin, end) > MOST_AT_ONCE;
    if (many && window.length / COARSE_COLUMNS <= 4 * step) this.sample(pixels, columns, rows, snapped);
    else fill(this.pieces, pixels, columns, rows, snapped, end, palette, idle);
  }

  /** Take pixels from the coarse picture, which is made again when the lanes, the rows or the colours change. */
  sample(pixels, columns, rows, window) {
    const { low, high, length } = window, { palette, idle } = this.key;
    if (!alike(this.key, this.coarse?.key)) {
      const all = this.coarse?.pixels.length === COARSE_COLUMNS * rows ? this.coarse.pixels : new Uint32Array(COARSE_COLUMNS * rows);
      fill(this.pieces, all, COARSE_COLUMNS, rows, { low, high, begin: 0, step: length / COARSE_COLUMNS }, length, palette, idle);
      this.coarse = { key: this.key, pixels: all };
    }
    const source = new Int32Array(columns), scale = COARSE_COLUMNS / length, all = this.coarse.pixels;
    for (let x = 0; x < columns; x++) {
      const at = Math.floor((window.begin + (x + 0.5) * window.step) * scale);
      source[x] = Math.min(Math.max(at, 0), COARSE_COLUMNS - 1);
    }
    for (let y = 0, to = 0, from = 0; y < rows; y++, from += COARSE_COLUMNS)
      for (let x = 0; x < columns; x++) pixels[to++] = all[from + source[x]];
  }
}

function alike(key, other) {
  return other !== undefined && Object.keys(key).every((part) => key[part] === other[part]);
}

function fill(pieces, pixels, columns, rows, { begin, step, low, high }, end, palette, idle) {
  pixels.fill(idle);
  const { start, end: ends, low: lows, high: highs } = pieces, places = pieces.places(palette);
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
      const colour = palette[places[i]];
      // A loop: to call TypedArray.fill for a few pixels costs ten times as much.
      for (let y = top; y < bottom; y++)
        for (let at = y * columns + left, stop = y * columns + right; at < stop; at++) pixels[at] = colour;
    }
  }
}
