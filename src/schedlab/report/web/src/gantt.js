// The Gantt chart: for each schedule the waiting jobs above the machine, all on one axis of time.

import { css, pixelOf } from "./colours.js";
import { element } from "./dom.js";
import { count, countOf, duration, moment, timeTicks } from "./format.js";
import { listen } from "./gestures.js";
import { LEFT, RIGHT } from "./layout.js";
import { MOST_AT_ONCE, Raster } from "./raster.js";

const MOST_RECTANGLES = 3000;
const AXIS = 24, CAPTION = 20, GAP = 8;
const SETTLED = 160;
const NAME_HEIGHT = 13, LEAST_NODE = 5;

/** How nodes look while they are closed, by the kind of the closure: name, strokes in a tile, and a colour for both schemes. */
export const CLOSURES = [
  { text: "out of service", strokes: [[0, 0, 8, 8], [0, 8, 8, 0]], colour: "#727b87" },
  { text: "maintenance", strokes: [[0, 8, 8, 0]], colour: "#727b87" },
  { text: "reserved", strokes: [[3, 4, 5, 4]], colour: "#3f9a74" },
];
const TILE = 8;

export const KEYS = "Arrow keys move, + and − zoom, Shift with the up and down arrows zooms the machine, Home shows "
  + "everything, full stop and comma go from job to job, Escape lets the job go.";

export class Gantt {
  constructor(model, view, { select, describe }) {
    Object.assign(this, { model, view, select, describe });
    this.panes = [];
    this.canvas = element("canvas", { class: "sl-canvas", tabindex: "0", role: "application", "aria-roledescription": "chart" });
    this.overlay = element("canvas", { class: "sl-overlay", "aria-hidden": "true" });
    this.tip = element("div", { class: "sl-tip", hidden: true });
    this.root = element("div", { class: "sl-gantt" }, this.canvas, this.overlay, this.tip);
    this.scratch = document.createElement("canvas");
    this.frames = [];
    listen(this);
    new ResizeObserver(() => Math.floor(this.root.clientWidth) !== this.width && this.resize()).observe(this.root);
  }

  /** Show schedules: each with its pixels by job. */
  show(shown) {
    this.shown = shown;
    this.panes = shown.flatMap(({ decisions, palette }) => {
      const { pieces, rows } = decisions.queuePieces;
      return [
        this.pane("queue", decisions, palette, pieces, Math.max(rows, 1)),
        this.pane("machine", decisions, palette, decisions.machinePieces(this.view.rows), this.view.lanes),
      ];
    });
    this.selected = null;
    this.resize();
  }

  pane(kind, decisions, palette, pieces, lanes) {
    const before = this.panes.find((pane) => pane.pieces === pieces);
    return { kind, decisions, palette, pieces, lanes, used: lanes, raster: before?.raster ?? new Raster(pieces) };
  }

  resize() {
    const width = Math.floor(this.root.clientWidth);
    if (!width || !this.panes.length) return;
    const many = this.panes.length > 2;
    const room = Math.min(Math.max(innerHeight * 0.6, 340), 620) * (many ? 1.45 : 1);
    const inner = room - AXIS - this.panes.length * (CAPTION + GAP);
    const queue = (0.3 * inner) / (this.panes.length / 2), machine = (0.7 * inner) / (this.panes.length / 2);
    let top = 0;
    for (const pane of this.panes) {
      const height = Math.round(pane.kind === "queue" ? queue : machine);
      Object.assign(pane, { left: LEFT, top: top + CAPTION, width: width - LEFT - RIGHT, height });
      top += CAPTION + height + GAP;
    }
    this.width = width;
    this.height = top + AXIS;
    this.ratio = Math.min(devicePixelRatio || 1, 2);
    this.cleared = false;
    for (const canvas of [this.canvas, this.overlay]) {
      canvas.width = Math.round(width * this.ratio);
      canvas.height = Math.round(this.height * this.ratio);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${this.height}px`;
    }
    this.root.style.height = `${this.height}px`;
    this.draw();
  }

  /** Draw soon: coarsely while the view moves, sharply when it rests. */
  redraw() {
    this.moving = true;
    clearTimeout(this.settling);
    this.settling = setTimeout(() => {
      this.moving = false;
      this.request();
    }, SETTLED);
    this.request();
  }

  request() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.draw();
    });
  }

  draw() {
    if (!this.panes.length || !this.width) return;
    const begun = performance.now();
    this.style = readStyle(this.root);
    const context = this.canvas.getContext("2d");
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    for (const pane of this.panes) this.drawPane(context, pane);
    this.drawTimeAxis(context);
    this.drawOverlay();
    if (!this.moving) this.canvas.setAttribute("aria-label", this.words());
    this.frames.push(performance.now() - begun);
    if (this.frames.length > 600) this.frames.shift();
  }

  /** Lanes that a pane shows: of the queue, as many as are used in the window. */
  lanes(pane) {
    return pane.kind === "queue" ? [0, pane.used] : [this.view.low, this.view.high];
  }

  drawPane(context, pane) {
    const { begin, end } = this.view, visible = pane.pieces.countIn(begin, end);
    // Steps, so that the queue does not change its scale in every frame; of very many jobs the coarse picture has all lanes.
    if (pane.kind === "queue") pane.used = visible > MOST_AT_ONCE ? pane.lanes : Math.min(pane.lanes, niceStep(pane.pieces.highest(begin, end)));
    const [low, high] = this.lanes(pane);
    context.fillStyle = this.style.ground;
    context.fillRect(pane.left, pane.top, pane.width, pane.height);
    if (visible > MOST_RECTANGLES) this.paint(context, pane, low, high);
    else this.rectangles(context, pane, low, high);
    if (pane.kind === "machine") this.hatch(context, pane, low, high);
    this.caption(context, pane);
    this.drawLaneAxis(context, pane, low, high);
  }

  paint(context, pane, low, high) {
    const scale = this.moving ? 1 : this.ratio;
    const columns = Math.max(1, Math.round(pane.width * scale)), rows = Math.max(1, Math.round(pane.height * scale));
    const window = { begin: this.view.begin, end: this.view.end, low, high, length: this.model.length };
    if (pane.image?.width !== columns || pane.image.height !== rows) {
      pane.image = new ImageData(columns, rows);
      pane.pixels = new Uint32Array(pane.image.data.buffer);
    }
    pane.raster.paint(pane.pixels, columns, rows, window, pane.palette, pixelOf(this.style.ground));
    const whole = scale === this.ratio && Number.isInteger(this.ratio);
    if (whole) context.putImageData(pane.image, pane.left * this.ratio, pane.top * this.ratio);
    else this.stretch(context, pane);
  }

  /** Draw pixels that are larger than those of the screen. */
  stretch(context, pane) {
    const { scratch } = this, { width, height } = pane.image;
    if (scratch.width < width) scratch.width = width;
    if (scratch.height < height) scratch.height = height;
    scratch.getContext("2d").putImageData(pane.image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(scratch, 0, 0, width, height, pane.left, pane.top, pane.width, pane.height);
  }

  rectangles(context, pane, low, high) {
    const { begin, end } = this.view, { start, end: ends, low: lows, high: highs, job } = pane.pieces;
    const places = pane.pieces.places(pane.palette);
    const across = pane.width / (end - begin), down = pane.height / (high - low);
    context.save();
    context.beginPath();
    context.rect(pane.left, pane.top, pane.width, pane.height);
    context.clip();
    context.font = this.style.font;
    context.textBaseline = "middle";
    context.textAlign = "center";
    const ranges = pane.pieces.ranges(begin, end);
    for (let range = 0; range < ranges.length; range += 2) {
      for (let i = ranges[range]; i < ranges[range + 1]; i++) {
        const left = Math.max((start[i] - begin) * across, -2), right = Math.min((ends[i] - begin) * across, pane.width + 2);
        const top = Math.max((high - highs[i]) * down, -2), bottom = Math.min((high - lows[i]) * down, pane.height + 2);
        if (right <= 0 || left >= pane.width || bottom <= 0 || top >= pane.height) continue;
        const x = pane.left + left, y = pane.top + top;
        const gapX = right - left > 4 ? 1 : 0, gapY = bottom - top > 4 ? 1 : 0;
        context.fillStyle = css(pane.palette[places[i]]);
        context.fillRect(x, y, Math.max(right - left - gapX, 0.6), Math.max(bottom - top - gapY, 0.6));
        if (right - left > 46 && bottom - top > 13) {
          context.fillStyle = "#14171c";
          context.fillText(String(this.model.columns.id[job[i]]), x + (right - left) / 2, y + (bottom - top) / 2);
        }
      }
    }
    context.restore();
  }

  /** Hatch nodes while they were closed, where the rows say which nodes they are. */
  hatch(context, pane, low, high) {
    const { closures } = pane.decisions, { starts } = this.model.axes[this.view.rows];
    if (!closures || !starts) return;
    const { begin, end } = this.view, across = pane.width / (end - begin), down = pane.height / (high - low);
    this.hatches ??= CLOSURES.map(({ strokes, colour }) => context.createPattern(tile(strokes, colour), "repeat"));
    for (let i = 0; i < closures.node.length; i++) {
      const node = closures.node[i];
      const left = Math.max((closures.begin[i] - begin) * across, 0), right = Math.min((closures.end[i] - begin) * across, pane.width);
      const top = Math.max((high - starts[node + 1]) * down, 0), bottom = Math.min((high - starts[node]) * down, pane.height);
      if (right <= left || bottom <= top) continue;
      context.fillStyle = this.hatches[closures.kind[i]];
      context.fillRect(pane.left + left, pane.top + top, right - left, bottom - top);
    }
  }

  caption(context, pane) {
    context.font = this.style.bold;
    context.fillStyle = this.style.text;
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    const what = pane.kind === "queue" ? "Waiting jobs" : "Machine";
    const whose = this.panes.length > 2 || pane.kind === "machine" ? `, ${pane.decisions.name}` : "";
    const booked = pane.kind === "machine" && !this.model.nodes && pane.decisions.lanes > this.model.size;
    const more = booked ? ` (the log books more than ${count(this.model.size)})` : "";
    context.fillText(`${what}${whose}${more}`, pane.left, pane.top - 6, pane.width);
  }

  drawLaneAxis(context, pane, low, high) {
    const axis = pane.kind === "machine" ? this.model.axes[this.view.rows] : null;
    context.font = this.style.font;
    context.fillStyle = this.style.quiet;
    context.textAlign = "right";
    context.textBaseline = "middle";
    if (axis?.names) this.nameLanes(context, pane, axis, low, high);
    else {
      const step = niceStep((high - low) / Math.max(pane.height / 34, 1));
      for (let at = Math.ceil(low / step) * step; at <= high + 1e-9; at += step) {
        const y = pane.top + ((high - at) / (high - low)) * pane.height;
        context.fillText(count(at), pane.left - 6, Math.min(Math.max(y, pane.top + 5), pane.top + pane.height - 4));
        context.fillRect(pane.left - 4, y - 0.5, 4, 1);
      }
    }
    if (axis) {
      this.drawNodes(context, pane, axis, low, high);
      context.save();
      context.translate(8, pane.top + pane.height / 2);
      context.rotate(-Math.PI / 2);
      context.textAlign = "center";
      context.fillText(axis.unit[0].toUpperCase() + axis.unit.slice(1), 0, 0, pane.height);
      context.restore();
    }
  }

  /** Write the names of rows, of as many as there is room for. */
  nameLanes(context, pane, { names }, low, high) {
    const room = pane.height / (high - low), every = niceStep(NAME_HEIGHT / room);
    for (let at = Math.ceil(Math.floor(low) / every) * every; at < Math.min(high, names.length); at += every) {
      const y = pane.top + (high - at - 0.5) * room;
      if (y > pane.top && y < pane.top + pane.height) context.fillText(names[at], pane.left - 6, y, pane.left - 22);
    }
  }

  /** Draw a line between nodes, where they are high enough to be told apart. */
  drawNodes(context, pane, { starts }, low, high) {
    if (!starts) return;
    const room = pane.height / (high - low);
    if ((room * (starts.at(-1) - starts[0])) / (starts.length - 1) < LEAST_NODE) return;
    context.fillStyle = this.style.page;
    for (const at of starts) if (at > low && at < high) context.fillRect(pane.left, pane.top + (high - at) * room - 0.5, pane.width, 1);
  }

  drawTimeAxis(context) {
    const { begin, end } = this.view, pane = this.panes.at(-1), y = pane.top + pane.height + 4;
    const { ticks, texts } = timeTicks(begin, end, pane.width, this.model.epoch);
    context.font = this.style.font;
    context.fillStyle = this.style.quiet;
    context.textAlign = "center";
    context.textBaseline = "top";
    ticks.forEach((at, i) => {
      const x = this.x(at), half = context.measureText(texts[i]).width / 2;
      context.fillRect(x - 0.5, y - 4, 1, 5);
      if (x - half >= 0 && x + half <= this.width) context.fillText(texts[i], x, y + 4);
    });
  }

  /** Cursor and the chosen job, above the picture. */
  drawOverlay() {
    const { cursor, job } = this.view, empty = cursor === null && job < 0 && !this.box;
    if (empty && this.cleared) return;
    this.cleared = empty;
    const context = this.overlay.getContext("2d");
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    const { view } = this, last = this.panes.at(-1);
    if (view.cursor !== null && view.cursor >= view.begin && view.cursor <= view.end) {
      context.fillStyle = this.style.text;
      context.globalAlpha = 0.55;
      context.fillRect(this.x(view.cursor) - 0.5, CAPTION, 1, last.top + last.height - CAPTION);
      context.globalAlpha = 1;
    }
    if (view.job >= 0) for (const pane of this.panes) this.outline(context, pane);
    if (this.box) {
      context.strokeStyle = this.style.accent;
      context.fillStyle = this.style.accent;
      const { x, y, width, height } = this.box;
      context.globalAlpha = 0.15;
      context.fillRect(x, y, width, height);
      context.globalAlpha = 1;
      context.strokeRect(x, y, width, height);
    }
  }

  outline(context, pane) {
    if (pane.outlined?.job !== this.view.job) {
      const found = [];
      for (let i = 0; i < pane.pieces.length; i++) if (pane.pieces.job[i] === this.view.job) found.push(i);
      pane.outlined = { job: this.view.job, found };
    }
    const { begin, end } = this.view, [low, high] = this.lanes(pane);
    const across = pane.width / (end - begin), down = pane.height / (high - low);
    context.save();
    context.beginPath();
    context.rect(pane.left - 2, pane.top - 2, pane.width + 4, pane.height + 4);
    context.clip();
    for (const i of pane.outlined.found) {
      const x = pane.left + (pane.pieces.start[i] - begin) * across, y = pane.top + (high - pane.pieces.high[i]) * down;
      const width = Math.max((pane.pieces.end[i] - pane.pieces.start[i]) * across, 3);
      const height = Math.max((pane.pieces.high[i] - pane.pieces.low[i]) * down, 3);
      context.lineWidth = 4;
      context.strokeStyle = this.style.page;
      context.strokeRect(x, y, width, height);
      context.lineWidth = 2;
      context.strokeStyle = this.style.text;
      context.strokeRect(x, y, width, height);
    }
    context.restore();
  }

  x(time) {
    const { left, width } = this.panes[0], { begin, end } = this.view;
    return left + ((time - begin) / (end - begin)) * width;
  }

  time(x) {
    const { left, width } = this.panes[0], { begin, end } = this.view;
    return begin + ((x - left) / width) * (end - begin);
  }

  paneAt(y) {
    return this.panes.find((pane) => y >= pane.top && y < pane.top + pane.height);
  }

  lane(pane, y) {
    const [low, high] = this.lanes(pane);
    return high - ((y - pane.top) / pane.height) * (high - low);
  }

  /** Return the job at a point of the canvas, and the pane; job -1 if there is none. */
  hit(x, y) {
    const pane = this.paneAt(y);
    if (!pane || x < pane.left || x > pane.left + pane.width) return { job: -1, pane };
    const found = pane.pieces.at(this.time(x), this.lane(pane, y));
    return { job: found < 0 ? -1 : pane.pieces.job[found], pane };
  }

  hover(x, y) {
    const { job, pane } = this.hit(x, y);
    this.tip.hidden = job < 0;
    if (job < 0) return;
    this.tip.replaceChildren(...this.describe(job, pane.decisions));
    const right = x > this.width / 2;
    this.tip.style.left = right ? "" : `${x + 14}px`;
    this.tip.style.right = right ? `${this.width - x + 14}px` : "";
    this.tip.style.top = `${Math.min(y + 12, this.height - 70)}px`;
  }

  /** What the picture shows, for who cannot see it. */
  words() {
    const { begin, end } = this.view, { decisions } = this.shown[0];
    const busy = decisions.series("utilisation").mean(begin, end), queue = decisions.series("queue_length").mean(begin, end);
    const schedules = this.shown.map(({ decisions: { name } }) => name).join(" and ");
    return `Gantt chart of ${schedules} from ${moment(begin, this.model.epoch)} for ${duration(end - begin)}: `
      + `${Math.round(100 * busy)}% of ${countOf(this.model.size, this.model.unit)} in use, `
      + `${countOf(queue, "job")} waiting on average. ${KEYS}`;
  }
}

/** Return a square that hatches a plane: strokes from one point to another. */
export function tile(strokes, colour) {
  const canvas = document.createElement("canvas"), context = canvas.getContext("2d");
  canvas.width = canvas.height = TILE;
  context.strokeStyle = colour;
  context.lineWidth = 1.2;
  for (const [fromX, fromY, toX, toY] of strokes) {
    context.moveTo(fromX, fromY);
    context.lineTo(toX, toY);
  }
  context.stroke();
  return canvas;
}

/** Steps of 1, 2 or 5 times a power of ten, at least 1. */
function niceStep(least) {
  if (!(least > 1)) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= least);
}

function readStyle(root) {
  const style = getComputedStyle(root), family = style.fontFamily;
  const read = (name) => style.getPropertyValue(name).trim();
  return {
    text: read("--text"), quiet: read("--quiet"), page: read("--page"), ground: read("--ground"), accent: read("--accent"),
    font: `11px ${family}`, bold: `600 12px ${family}`,
  };
}
