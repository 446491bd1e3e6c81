// How many jobs have each pair of waits: one scheduler across, the other up, on logarithmic scales from 1 s on.

import { countOf, tickDuration } from "./format.js";

const SIZE = 340, LEFT = 54, TOP = 8, BOTTOM = 34, SIDE = SIZE - LEFT - 8, BINS = Math.round(SIDE / 2);
const TICKS = [0, 60, 3600, 86400, 864000, 8640000];

/** Draw the waits of all jobs under two schedulers into a canvas of the page. */
export function cloud(canvas, first, second) {
  const { model } = first, top = Math.log1p(Math.max(60, longest(first), longest(second)));
  canvas.setAttribute("aria-label", `Waits of ${countOf(model.count, "job")} under ${first.name} (across) and ${second.name} (up).`);
  const ratio = Math.min(devicePixelRatio || 1, 2);
  canvas.width = SIZE * ratio;
  canvas.height = (SIDE + BOTTOM + TOP) * ratio;
  canvas.style.width = `${SIZE}px`;
  const style = getComputedStyle(canvas), colour = (name) => style.getPropertyValue(name).trim();
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  context.font = `11px ${style.fontFamily}`;
  drawCells(context, cells(first, second, top), colour);
  drawAxes(context, first, second, top, colour);
}

function longest(decisions) {
  let most = 0;
  for (let job = 0; job < decisions.model.count; job++) most = Math.max(most, decisions.wait(job));
  return most;
}

/** Count jobs by their waits, row by row from the shortest under the second scheduler. */
function cells(first, second, top) {
  const counts = new Uint32Array(BINS * BINS);
  const place = (wait) => Math.min(BINS - 1, Math.floor((Math.log1p(Math.max(wait, 0)) / top) * BINS));
  for (let job = 0; job < first.model.count; job++) counts[place(second.wait(job)) * BINS + place(first.wait(job))]++;
  return counts;
}

function drawCells(context, counts, colour) {
  const most = Math.log1p(counts.reduce((a, b) => Math.max(a, b), 1)), size = SIDE / BINS;
  const colours = [colour("--shorter"), colour("--quiet"), colour("--longer")];
  context.fillStyle = colour("--ground");
  context.fillRect(LEFT, TOP, SIDE, SIDE);
  counts.forEach((jobs, cell) => {
    if (!jobs) return;
    const x = cell % BINS, y = Math.floor(cell / BINS);
    context.globalAlpha = 0.3 + 0.7 * (Math.log1p(jobs) / most);
    context.fillStyle = colours[Math.sign(y - x) + 1];
    context.fillRect(LEFT + x * size, TOP + SIDE - (y + 1) * size, size + 0.5, size + 0.5);
  });
  context.globalAlpha = 1;
}

function drawAxes(context, first, second, top, colour) {
  context.strokeStyle = context.fillStyle = colour("--quiet");
  context.setLineDash([4, 4]);
  context.beginPath();
  context.moveTo(LEFT, TOP + SIDE);
  context.lineTo(LEFT + SIDE, TOP);
  context.stroke();
  for (const seconds of TICKS) {
    const at = (Math.log1p(seconds) / top) * SIDE;
    if (at > SIDE) continue;
    context.textAlign = "center";
    context.fillText(tickDuration(seconds), LEFT + Math.min(Math.max(at, 8), SIDE - 8), TOP + SIDE + 14);
    context.textAlign = "right";
    context.fillText(tickDuration(seconds), LEFT - 5, TOP + SIDE - at + 4);
  }
  context.textAlign = "center";
  context.fillText(`wait, ${first.name}`, LEFT + SIDE / 2, TOP + SIDE + 29, SIDE);
  context.translate(10, TOP + SIDE / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(`wait, ${second.name}`, 0, 0, SIDE);
}
