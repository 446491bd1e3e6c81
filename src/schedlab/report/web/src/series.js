// Quantities over time under the Gantt chart, on the same axis, with one cursor over all. Drawn by uPlot.

import uPlot from "uplot";
import { element, term } from "./dom.js";
import { duration, moment, percent, significant, tickDuration, timeTicks } from "./format.js";
import { LEFT, RIGHT } from "./layout.js";
import { quantitiesOf } from "./quantities.js";

const HEIGHT = 116;
const MOST_BINS = 800;
const LETTER = 6.5;

const TEXTS = {
  jobs: (value) => `${significant(value)} jobs`,
  users: (value) => `${significant(value)} users`,
  time: duration,
  share: percent,
};
/** Distances of ticks on an axis of durations. */
const DURATIONS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((days) => days * 86400)];
const TICKS = { jobs: significant, users: significant, time: tickDuration, share: percent };

export class Series {
  constructor(model, view) {
    Object.assign(this, { model, view });
    this.root = element("div", { class: "sl-series" });
    this.charts = [];
    this.width = 0;
    new ResizeObserver(() => this.resize()).observe(this.root);
  }

  /** Draw these schedules. */
  show(decisions) {
    this.decisions = decisions;
    for (const { plot } of this.charts) plot?.destroy();
    this.observer?.disconnect();
    // Charts far from the window are neither made nor computed: that would be a third of the time to open a page.
    this.observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) this.charts.find(({ holder }) => holder === target).near = isIntersecting;
      if (entries.some(({ isIntersecting }) => isIntersecting)) this.update();
    }, { rootMargin: "200px" });
    this.root.replaceChildren();
    this.width = Math.floor(this.root.clientWidth);
    this.charts = quantitiesOf(this.model).map(([key, title, unit]) => this.chart(key, title, unit));
    for (const { holder } of this.charts) this.observer.observe(holder);
  }

  chart(key, title, unit) {
    const readout = element("span", { class: "sl-readout" });
    const heading = element("h3", {}, term(key, title), " ", readout);
    const holder = element("div", { role: "img", "aria-label": title });
    this.root.append(element("div", { class: "sl-chart" }, heading, holder));
    // As high as the chart will be, so that nothing moves when it is made.
    holder.style.minHeight = `${HEIGHT}px`;
    return { key, title, unit, plot: null, readout, holder };
  }

  plot({ unit, holder }) {
    const colours = ["--first", "--second"];
    return new uPlot({
      width: Math.max(this.width, 100),
      height: HEIGHT,
      padding: [6, RIGHT, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false }, y: false },
      scales: { x: { time: false, range: () => [this.view.begin, this.view.end] }, y: { range: (_, low, high) => [0, high > 0 ? high * 1.05 : 1] } },
      axes: [
        { stroke: () => this.colour("--quiet"), grid: { stroke: () => this.colour("--rule"), width: 1 }, ticks: { show: false },
          font: this.font(), size: 22, splits: () => this.ticks().ticks, values: () => this.ticks().texts },
        { stroke: () => this.colour("--quiet"), grid: { stroke: () => this.colour("--rule"), width: 1 }, ticks: { show: false },
          font: this.font(), size: LEFT, space: 28, gap: 4, ...(unit === "time" ? { incrs: DURATIONS } : {}), values: (_, ticks) => ticks.map(TICKS[unit]) },
      ],
      series: [{}, ...this.decisions.map((_, number) => ({
        stroke: () => this.colour(colours[number]),
        fill: number ? undefined : () => `${this.colour(colours[number])}26`,
        dash: number ? [6, 3] : undefined,
        width: 1.5,
        points: { show: false },
        paths: uPlot.paths.stepped({ align: 1 }),
      }))],
      hooks: {
        setCursor: [(plot) => this.moved(plot)],
        setSelect: [(plot) => this.selected(plot)],
      },
    }, [[0, 1], ...this.decisions.map(() => [0, 0])], holder);
  }

  /** Ticks of the time axis; a text that would be cut off at the right is left out. */
  ticks() {
    const { begin, end } = this.view, room = this.width - LEFT - RIGHT;
    const { ticks, texts } = timeTicks(begin, end, room, this.model.epoch);
    const fits = (at, text) => ((at - begin) / (end - begin)) * room + (text.length * LETTER) / 2 <= room + RIGHT;
    return { ticks, texts: texts.map((text, i) => (fits(ticks[i], text) ? text : "")) };
  }

  colour(name) {
    return getComputedStyle(this.root).getPropertyValue(name).trim();
  }

  font() {
    return `11px ${getComputedStyle(this.root).fontFamily}`;
  }

  resize() {
    const width = Math.floor(this.root.clientWidth);
    if (!width || width === this.width) return;
    this.width = width;
    for (const { plot } of this.charts) plot?.setSize({ width, height: HEIGHT });
    this.update();
  }

  /** Compute the means of the window and draw. */
  update() {
    if (!this.width) return;
    const { begin, end } = this.view, bins = Math.min(MOST_BINS, Math.max(this.width - LEFT, 50));
    const width = (end - begin) / bins;
    const times = new Float64Array(bins + 1).map((_, i) => begin + i * width);
    for (const chart of this.charts) {
      if (!chart.near) continue;
      chart.plot ??= this.plot(chart);
      const { key, plot, title, unit, holder } = chart;
      const values = this.decisions.map((decisions) => {
        const means = decisions.series(key).means(begin, end, bins);
        return [...means, means.at(-1)];
      });
      plot.setData([times, ...values]);
      const said = this.decisions.map((decisions) => `${decisions.name} ${TEXTS[unit](decisions.series(key).mean(begin, end))}`);
      holder.setAttribute("aria-label", `${title}, mean of the period shown: ${said.join(", ")}`);
    }
    this.showCursor();
  }

  /** The pointer is over a chart. */
  moved(plot) {
    if (this.syncing) return;
    // A chart that is made under the pointer has no scale yet.
    const { left } = plot.cursor, at = plot.posToVal(left, "x");
    this.view.set({ cursor: left < 0 || !Number.isFinite(at) ? null : at }, "cursor");
  }

  selected(plot) {
    const { left, width } = plot.select;
    if (width < 4) return;
    const begin = plot.posToVal(left, "x"), end = plot.posToVal(left + width, "x");
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.view.look(begin, end);
  }

  /** Show the cursor in all charts, and the values there, or the means of the window. */
  showCursor() {
    const { cursor, begin, end } = this.view;
    this.syncing = true;
    for (const { key, unit, plot, readout, near } of this.charts) {
      if (!near || !plot) continue;
      plot.setCursor(cursor === null ? { left: -10, top: -10 } : { left: plot.valToPos(cursor, "x"), top: 10 }, false);
      const at = (series) => (cursor === null ? series.mean(begin, end) : series.at(cursor));
      const values = this.decisions.map((decisions) => {
        const text = TEXTS[unit](Math.max(0, at(decisions.series(key))));
        return this.decisions.length > 1 ? `${decisions.name} ${text}` : text;
      });
      const when = cursor === null ? "mean" : moment(cursor, this.model.epoch);
      readout.textContent = `${when}: ${values.join(" · ")}`;
    }
    this.syncing = false;
  }
}
