// Mouse, touch, wheel and keyboard on the Gantt chart.

import { focusedIn } from "./dom.js";

const CLICK = 5;
const WHEEL = 0.0016;

/** Listen to everything that moves the view of a chart. */
export function listen(chart) {
  const { canvas } = chart;
  const pointers = new Map();
  let drag = null, pinch = null;

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, place(event));
    chart.tip.hidden = true;
    if (pointers.size === 1) {
      const { begin, end, low, high } = chart.view;
      drag = { from: place(event), begin, end, low, high, box: event.shiftKey, moved: false, pane: chart.paneAt(place(event).y) };
    } else if (pointers.size === 2) {
      drag = null;
      pinch = pinchOf(chart, pointers);
    }
  });

  canvas.addEventListener("pointermove", (event) => {
    const at = place(event);
    if (!pointers.has(event.pointerId)) {
      chart.view.set({ cursor: chart.time(at.x) }, "cursor");
      if (event.pointerType === "mouse") chart.hover(at.x, at.y);
      return;
    }
    pointers.set(event.pointerId, at);
    if (pinch && pointers.size === 2) movePinch(chart, pointers, pinch);
    else if (drag) moveDrag(chart, drag, at);
  });

  const release = (event) => {
    if (!pointers.delete(event.pointerId)) return;
    if (drag?.box && drag.moved) zoomToBox(chart);
    else if (drag && !drag.moved && event.type === "pointerup") chart.select(chart.hit(drag.from.x, drag.from.y).job);
    chart.box = null;
    chart.drawOverlay();
    drag = null;
    if (pointers.size < 2) pinch = null;
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => {
    chart.tip.hidden = true;
    chart.view.set({ cursor: null }, "cursor");
  });

  canvas.addEventListener("dblclick", (event) => chart.view.zoom(event.shiftKey ? 2 : 0.5, chart.time(place(event).x)));

  canvas.addEventListener("wheel", (event) => {
    // Without the focus, the wheel scrolls the page, as anywhere else; a pinch on a touch pad comes with ctrlKey.
    const ours = event.ctrlKey || event.metaKey || event.altKey || focusedIn(canvas) === canvas;
    if (!ours) return;
    event.preventDefault();
    const { x, y } = place(event), pixels = event.deltaMode ? 16 : 1;
    const factor = Math.exp((event.deltaY || event.deltaX) * pixels * WHEEL * (event.ctrlKey ? 3 : 1));
    const pane = chart.paneAt(y);
    if (event.altKey && pane?.kind === "machine") chart.view.zoomLanes(factor, chart.lane(pane, y));
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
      chart.view.pan((((event.deltaX || event.deltaY) * pixels) / chart.panes[0].width));
    else chart.view.zoom(factor, chart.time(x));
  }, { passive: false });

  canvas.addEventListener("keydown", (event) => {
    const act = keyAction(chart, event);
    if (!act || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    act();
  });

  function place(event) {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }
}

function moveDrag(chart, drag, at) {
  const { view } = chart, { width } = chart.panes[0];
  const x = at.x - drag.from.x, y = at.y - drag.from.y;
  if (!drag.moved && Math.hypot(x, y) < CLICK) return;
  drag.moved = true;
  if (drag.box) {
    chart.box = { x: Math.min(drag.from.x, at.x), y: Math.min(drag.from.y, at.y), width: Math.abs(x), height: Math.abs(y) };
    chart.box.pane = drag.pane;
    chart.drawOverlay();
    return;
  }
  const time = (x / width) * (drag.end - drag.begin);
  const lanes = drag.pane?.kind === "machine" ? (y / drag.pane.height) * (drag.high - drag.low) : 0;
  view.look(drag.begin - time, drag.end - time, drag.low + lanes, drag.high + lanes);
}

function zoomToBox(chart) {
  const { x, y, width, height, pane } = chart.box;
  if (width < CLICK) return;
  const { low, high } = chart.view;
  const lanes = pane?.kind === "machine" && height > CLICK ? [chart.lane(pane, y + height), chart.lane(pane, y)] : [low, high];
  chart.view.look(chart.time(x), chart.time(x + width), ...lanes);
}

function pinchOf(chart, pointers) {
  const [first, second] = [...pointers.values()];
  return { times: [chart.time(first.x), chart.time(second.x)] };
}

/** Two fingers hold two moments: the window follows them. */
function movePinch(chart, pointers, pinch) {
  const [first, second] = [...pointers.values()], { left, width } = chart.panes[0];
  const apart = second.x - first.x, times = pinch.times[1] - pinch.times[0];
  if (Math.abs(apart) < 12 || apart * times <= 0) return;
  const step = times / apart, begin = pinch.times[0] - (first.x - left) * step;
  chart.view.look(begin, begin + step * width);
}

function keyAction(chart, event) {
  const { view } = chart;
  const actions = {
    ArrowLeft: () => view.pan(-0.2),
    ArrowRight: () => view.pan(0.2),
    ArrowUp: () => (event.shiftKey ? view.zoomLanes(0.5) : view.panLanes(0.2)),
    ArrowDown: () => (event.shiftKey ? view.zoomLanes(2) : view.panLanes(-0.2)),
    "+": () => view.zoom(0.5),
    "=": () => view.zoom(0.5),
    "-": () => view.zoom(2),
    Home: () => view.reset(),
    ".": () => chart.select(neighbour(chart, 1)),
    ",": () => chart.select(neighbour(chart, -1)),
    Escape: () => chart.select(-1),
  };
  return actions[event.key];
}

/** Return the job that starts next after, or last before, the chosen one; without one, the first in the window. */
function neighbour(chart, direction) {
  const { decisions, matches } = chart.shown[0], order = decisions.startOrder;
  let at = chart.view.job >= 0 ? order.indexOf(chart.view.job) + direction
    : order.findIndex((job) => decisions.start[job] >= chart.view.begin);
  while (at >= 0 && at < order.length && matches && !matches[order[at]]) at += direction;
  return order[at] ?? chart.view.job;
}
