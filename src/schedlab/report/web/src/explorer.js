// The interactive view of schedules: controls, Gantt chart, series, the panel of a job, search, difference, distributions.

import { classify, colourChoices, pixels } from "./colours.js";
import { Difference } from "./difference.js";
import { Distributions } from "./distributions.js";
import { element, focusedIn, name, select } from "./dom.js";
import { count, countOf } from "./format.js";
import { CLOSURES, Gantt, KEYS, tile } from "./gantt.js";
import { brief, describeJob } from "./job.js";
import { Jobs } from "./jobs.js";
import { HELP, parseQuery } from "./query.js";
import { Series } from "./series.js";
import { View } from "./view.js";

const SERIES_DELAY = 100;

export class Explorer {
  constructor(root, model, options = {}) {
    Object.assign(this, { root, model });
    this.view = new View(model, options);
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    const choose = (job) => this.choose(job);
    this.gantt = new Gantt(model, this.view, { select: choose, describe: brief });
    this.series = new Series(model, this.view);
    this.difference = new Difference(model, this.view, choose);
    this.distributions = new Distributions(model, this.view);
    this.jobs = new Jobs(model, this.view, choose);
    this.build();
    this.view.addEventListener("change", (event) => this.changed(event.detail));
    this.dark.addEventListener("change", () => this.recolour());
  }

  build() {
    this.root.classList.add("sl-room");
    this.controls = element("div", { class: "sl-controls" });
    this.legend = element("ul", { class: "sl-legend", "aria-label": "Colours" });
    this.panel = element("aside", { class: "sl-job", "aria-label": "The chosen job", hidden: true });
    this.announcer = element("p", { class: "sl-offscreen", "aria-live": "polite" });
    this.found = element("p", { class: "sl-found", role: "status" });
    this.parts = {
      difference: section("Difference between the two schedules", this.difference.root),
      distributions: section("Distributions over the jobs", this.distributions.root),
      jobs: section("The jobs", this.jobs.root),
    };
    this.root.replaceChildren(
      this.controls, this.found,
      element("div", { class: "sl-stage" },
        element("div", { class: "sl-pictures" }, this.gantt.root, this.legend,
          element("p", { class: "sl-hint" }, "Click the chart, then turn the wheel to zoom; drag to move, drag with Shift to zoom into a box. ",
            KEYS, " Above a few thousand jobs, each pixel shows the job at its centre.")),
        this.panel, this.series.root),
      ...Object.values(this.parts), this.announcer);
  }

  /** Read the schedules that are asked for and show everything. */
  async start() {
    await this.load();
    return this;
  }

  async load() {
    const { model, view } = this;
    const numbers = view.b >= 0 && view.b !== view.a ? [view.a, view.b] : [view.a];
    const asked = (this.asked = {});
    const decisions = await Promise.all(numbers.map((number) => model.schedule(number)));
    if (asked !== this.asked) return;
    this.decisions = decisions;
    const colours = colourChoices(model, decisions.length > 1).map(([key]) => key);
    if (!colours.includes(view.colour)) view.colour = view.defaults.colour;
    this.buildControls();
    this.search();
    this.gantt.show(this.shown);
    this.series.show(decisions);
    this.showParts();
    this.showJob();
  }

  buildControls() {
    const { model, view } = this, { schedules } = model.index, axes = Object.entries(model.axes);
    const names = schedules.map((schedule, number) => [number, schedule.name]);
    const several = schedules.length > 1;
    this.input = element("input", { type: "search", value: view.query, placeholder: "job, user:NAME, wait>2h …", "aria-describedby": "sl-search-help",
      change: (event) => view.set({ query: event.target.value.trim() }, "query") });
    const button = (text, label, act) => element("button", { type: "button", class: "sl-button", "aria-label": label, title: label, click: act }, text);
    const colours = select("Colour", colourChoices(model, this.decisions.length > 1), view.colour, (colour) => view.set({ colour }, "colour"));
    this.colour = colours.querySelector("select");
    const rows = axes.length > 1 ? select("Rows", axes.map(([key, { unit }]) => [key, unit]), view.rows, (key) => view.setRows(key)) : "";
    this.rows = rows && rows.querySelector("select");
    this.controls.replaceChildren(
      several ? select("Schedule", names, view.a, (value) => view.set({ a: Number(value), b: Number(value) === view.b ? -1 : view.b })) : "",
      several ? select("Compare with", [[-1, "none"], ...names.filter(([number]) => number !== view.a)], view.b, (value) => view.set({ b: Number(value) })) : "",
      colours,
      rows,
      element("label", { class: "sl-field sl-search" }, element("span", {}, "Search"), this.input),
      element("span", { class: "sl-offscreen", id: "sl-search-help" }, HELP),
      element("span", { class: "sl-buttons", role: "group", "aria-label": "Zoom" },
        button("+", "Zoom in", () => view.zoom(0.5)), button("−", "Zoom out", () => view.zoom(2)),
        button("‹", "Earlier", () => view.pan(-0.5)), button("›", "Later", () => view.pan(0.5)), button("All", "All: show everything", () => view.reset())));
  }

  /** Find the jobs of the search, and colour all jobs. */
  search() {
    const { model, view } = this;
    let test = null;
    this.found.textContent = "";
    try {
      test = parseQuery(view.query, model);
    } catch (error) {
      this.found.textContent = error.message;
    }
    const [first, second] = this.decisions;
    this.shown = this.decisions.map((decisions) => {
      const matches = test ? new Uint8Array(model.count).map((_, job) => (test(decisions, job) ? 1 : 0)) : null;
      const other = second ? (decisions === first ? second : first) : null;
      return { decisions, matches, classified: this.classified(decisions, other, first) };
    });
    if (test) {
      const { matches } = this.shown[0], jobs = matches.reduce((sum, match) => sum + match, 0);
      this.found.textContent = `${countOf(jobs, "job")} found.`;
      if (jobs === 1 && view.job < 0) this.choose(matches.indexOf(1));
    }
    this.paint();
  }

  /** A change is always that from the first schedule to the second. */
  classified(decisions, other, first) {
    if (this.view.colour !== "change" || !other) return classify(this.view.colour, decisions, other);
    return decisions === first ? classify("change", decisions, other) : classify("change", other, decisions);
  }

  paint() {
    for (const each of this.shown) each.palette = pixels(each.classified, each.matches, this.dark.matches);
    this.showLegend();
  }

  recolour() {
    this.search();
    this.gantt.show(this.shown);
    this.series.show(this.decisions);
    this.showParts();
  }

  showLegend() {
    const { classes } = this.shown[0].classified, { view } = this;
    this.legend.replaceChildren(...classes.filter(({ jobs }) => jobs).map(({ colour, text, jobs, query }) => {
      const key = element("span", { class: "sl-key" });
      key.style.setProperty("--key", colour);
      const content = [key, name(text), element("small", {}, ` ${count(jobs)}`)];
      const pressed = query !== null && view.query === query;
      return element("li", {}, query === null ? element("span", { class: "sl-entry" }, content)
        : element("button", { type: "button", class: "sl-entry", "aria-pressed": String(pressed), title: "Show only these",
          click: () => view.set({ query: pressed ? "" : query }, "query") }, content));
    }), ...this.closed());
  }

  /** Legend entries of the nodes that were closed, of each kind that there is. */
  closed() {
    const kinds = new Set(this.shown.flatMap(({ decisions }) => [...(decisions.closures?.kind ?? [])]));
    return [...kinds].sort().map((kind) => {
      const { text, strokes, colour } = CLOSURES[kind], key = element("span", { class: "sl-key" });
      key.style.background = `url(${tile(strokes, colour).toDataURL()})`;
      return element("li", {}, element("span", { class: "sl-entry" }, key, text));
    });
  }

  /** Show what stands below the charts, each part when it comes near the window. */
  showParts(names = Object.keys(this.parts)) {
    const [first, second] = this.decisions;
    const show = {
      difference: () => second && this.difference.show(first, second),
      distributions: () => this.distributions.show(this.shown),
      jobs: () => this.jobs.show(first, this.shown[0].matches),
    };
    this.parts.difference.hidden = !second;
    for (const part of names) whenNear(this.parts[part], show[part]);
  }

  choose(job) {
    this.view.show(job, this.decisions[0]);
    if (job >= 0) this.announcer.textContent = `Job ${this.model.columns.id[job]} chosen`;
  }

  showJob() {
    const { view } = this, focused = this.panel.contains(focusedIn(this.root));
    this.panel.hidden = view.job < 0;
    this.root.classList.toggle("sl-with-job", view.job >= 0);
    if (view.job >= 0) describeJob(this.panel, view.job, this.decisions[0], this.decisions[1], (job) => this.choose(job));
    if (focused) (view.job < 0 ? this.gantt.canvas : this.panel.querySelector("button")).focus();
  }

  changed(what) {
    if (!this.decisions) return;
    if (what === "everything") this.load();
    else if (what === "window") {
      this.gantt.redraw();
      this.seriesSoon();
    } else if (what === "cursor") {
      this.gantt.drawOverlay();
      this.series.showCursor();
    } else if (what === "job") {
      this.showJob();
      this.gantt.drawOverlay();
    } else if (what === "distribution") this.distributions.show(this.shown);
    else if (what === "paid") this.difference.showGroups();
    else if (what !== "sort") {
      this.search();
      this.gantt.show(this.shown);
      this.colour.value = this.view.colour;
      if (this.rows) this.rows.value = this.view.rows;
      if (what === "query") {
        this.input.value = this.view.query;
        this.showParts(["distributions", "jobs"]);
      }
    }
  }

  /** The series follow the chart, but not at every step of a fast movement. */
  seriesSoon() {
    this.waiting ??= setTimeout(() => {
      this.waiting = null;
      this.series.update();
    }, SERIES_DELAY);
  }
}

const NEAR = "800px";

/** Call a function once, when an element comes near the window; the last function given for an element counts. */
function whenNear(target, act) {
  target.observer?.disconnect();
  target.observer = new IntersectionObserver(([{ isIntersecting }]) => {
    if (!isIntersecting) return;
    target.observer.disconnect();
    act();
  }, { rootMargin: NEAR });
  target.observer.observe(target);
}

function section(title, content) {
  return element("section", { class: "sl-part", "aria-label": title }, element("h3", {}, title), content);
}
