// How a quantity is spread over the jobs, by group or by schedule: curves, and the table that says the same.

import uPlot from "uplot";
import { element, select } from "./dom.js";
import { count, duration, percent, significant, tickDuration } from "./format.js";
import { quantile } from "./order.js";
import { makeTable } from "./tables.js";

const HEIGHT = 260, POINTS = 240, MOST_GROUPS = 6;
const COLOURS = ["#4477aa", "#cc6677", "#2e9e6b", "#b8a53a", "#aa4499", "#dd8833"];

/** What can be asked: key, name, value of a job, how it is said, and the smallest value that the axis can show. */
const METRICS = [
  ["wait", "Wait", (decisions, job) => decisions.wait(job), duration, 1],
  ["bounded_slowdown", "Bounded slowdown", (decisions, job) => decisions.boundedSlowdown(job), significant, 1],
  ["slowdown", "Slowdown", (decisions, job) => decisions.slowdown(job), significant, 1],
  ["turnaround", "Turnaround", (decisions, job) => decisions.turnaround(job), duration, 1],
  ["run", "Run time", (decisions, job) => decisions.runTime(job), duration, 1],
  ["processors", "Size", (decisions, job) => decisions.model.columns.processors[job], significant, 1],
  ["requested", "Requested time", (decisions, job) => decisions.model.columns.requested[job], duration, 1],
  ["accuracy", "Accuracy of the request", (decisions, job) => accuracy(decisions, job), percent, 0.001],
];

function accuracy(decisions, job) {
  const requested = decisions.model.columns.requested[job];
  return requested > 0 ? decisions.runTime(job) / requested : NaN;
}

export class Distributions {
  constructor(model, view) {
    Object.assign(this, { model, view });
    this.root = element("div", { class: "sl-distributions" });
    new ResizeObserver(() => this.plot?.setSize({ width: Math.max(this.holder.clientWidth, 200), height: HEIGHT })).observe(this.root);
  }

  /** Show the distributions for these schedules and the jobs that match the search. */
  show(shown) {
    const { model, view } = this;
    const [, title, value, text, least] = METRICS.find(([key]) => key === view.metric) ?? METRICS[0];
    const groups = [["", "All jobs"], ...model.groupChoices];
    const curves = this.curves(shown, value);
    this.holder = element("div", { role: "img", "aria-label": `Cumulative distribution of ${title}; the table below has its numbers` });
    const rows = curves.map(({ label, values }) => [label, { text: count(values.length), value: values.length },
      ...[mean(values), ...[0.5, 0.95, 0.99, 1].map((share) => quantile(values, share))]
        .map((number) => ({ text: text(number), value: Number.isFinite(number) ? number : "" }))]);
    const columns = [["Jobs of", false, "group"], ["Number", true, "jobs"], ["Mean", true, "mean"], ["Median", true, "median"], ["95th percentile", true, "percentile"], ["99th percentile", true, "percentile"], ["Largest", true, "largest"]];
    this.plot?.destroy();
    this.root.replaceChildren(
      element("div", { class: "sl-controls" },
        select("Quantity", METRICS.map(([key, name]) => [key, name]), view.metric, (metric) => view.set({ metric }, "distribution")),
        select("By", groups, view.group, (group) => view.set({ group }, "distribution")),
        element("button", { type: "button", class: "sl-term", "data-term": view.metric }, "What is this?")),
      this.holder, legend(curves), makeTable(`${title} of the jobs`, columns, rows));
    this.draw(curves, text, least);
  }

  /** The values of each curve, ascending. */
  curves(shown, value) {
    const { model, view } = this, several = shown.length > 1;
    const members = view.group && model.columns[view.group] ? model.members(view.group).slice(0, MOST_GROUPS) : [[null]];
    const column = model.columns[view.group];
    return members.flatMap(([member], number) => shown.map(({ decisions, matches }, schedule) => {
      const values = new Float64Array(model.count);
      let kept = 0;
      for (let job = 0; job < model.count; job++) {
        if ((member !== null && column[job] !== member) || (matches && !matches[job])) continue;
        const amount = value(decisions, job);
        if (Number.isFinite(amount) && amount >= 0) values[kept++] = amount;
      }
      const names = [...(member === null ? [] : [model.label(view.group, member)]), ...(several || member === null ? [decisions.name] : [])];
      const colour = member === null ? COLOURS[schedule] : COLOURS[number];
      return { label: names.join(", "), values: values.subarray(0, kept).sort(), colour, dashed: schedule > 0 };
    }));
  }

  draw(curves, text, least) {
    const most = Math.max(least * 10, ...curves.map(({ values }) => values.at(-1) ?? 0));
    const low = Math.log(least), step = (Math.log(most * 1.02) - low) / (POINTS - 1);
    const x = new Float64Array(POINTS).map((_, i) => Math.exp(low + i * step));
    const data = curves.map(({ values }) => shares(values, x));
    const colour = (name) => getComputedStyle(this.root).getPropertyValue(name).trim();
    const font = `11px ${getComputedStyle(this.root).fontFamily}`;
    const axis = { stroke: () => colour("--quiet"), grid: { stroke: () => colour("--rule"), width: 1 }, ticks: { show: false }, font };
    this.plot = new uPlot({
      width: Math.max(this.holder.clientWidth, 200),
      height: HEIGHT,
      padding: [8, 12, 0, 0],
      legend: { show: false },
      cursor: { drag: { setScale: false, x: false, y: false }, points: { size: 6 } },
      scales: { x: { time: false, distr: 3, range: [least, most * 1.02] }, y: { range: [0, 1.001] } },
      axes: [
        { ...axis, size: 30, splits: () => logTicks(least, most, text === duration, this.holder.clientWidth < 420), values: (_, ticks) => ticks.map(text === duration ? tickDuration : text), filter: (_, ticks) => ticks },
        { ...axis, size: 50, splits: () => [0, 0.25, 0.5, 0.75, 1], values: (_, ticks) => ticks.map(percent) },
      ],
      series: [{}, ...curves.map(({ colour: stroke, dashed }) => ({ stroke, width: 2, dash: dashed ? [6, 3] : undefined, points: { show: false } }))],
    }, [x, ...data], this.holder);
  }
}

function mean(values) {
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : NaN;
}

/** Share of ascending values that are at most each of the points. */
function shares(values, points) {
  const result = new Array(points.length);
  for (let i = 0, at = 0; i < points.length; i++) {
    while (at < values.length && values[at] <= points[i]) at++;
    result[i] = values.length ? at / values.length : null;
  }
  return result;
}

function logTicks(least, most, timed, narrow) {
  const durations = narrow ? [1, 60, 3600, 86400, 8640000] : [1, 10, 60, 600, 3600, 36000, 86400, 864000, 8640000];
  if (timed) return durations.filter((tick) => tick <= most);
  const ticks = [];
  for (let tick = least; tick <= most; tick *= 10) ticks.push(tick);
  return ticks;
}

function legend(curves) {
  return element("ul", { class: "sl-legend" }, curves.map(({ label, colour, dashed }) => {
    const key = element("span", { class: dashed ? "sl-dash" : "sl-key" });
    key.style.setProperty("--key", colour);
    return element("li", {}, key, element("bdi", {}, label));
  }));
}
