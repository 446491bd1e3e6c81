// What is looked at: the window of time and lanes, the schedules, the colours, the search, the job, and how the parts below
// the charts are grouped and sorted.

import { readFragment, writeFragment } from "./fragment.js";

const DEFAULTS = { a: 0, b: -1, colour: "user", query: "", job: -1, metric: "wait", group: "", paid: "sizeClass", sort: "-wait", rows: "processor" };

export class View extends EventTarget {
  /** `link`: whether the address follows the view, as in a page; not in a notebook. */
  constructor(model, { link = true } = {}) {
    super();
    this.model = model;
    this.link = link;
    Object.assign(this, DEFAULTS, { a: model.index.first, b: model.index.second ?? -1 });
    if (!model.groups.includes("user")) this.colour = "sizeClass";
    this.begin = 0;
    this.end = model.length;
    this.low = 0;
    this.high = this.lanes;
    this.cursor = null;
    this.defaults = { ...this.state() };
    if (link) {
      this.readLink();
      addEventListener("hashchange", () => {
        this.readLink();
        this.changed("everything");
      });
    }
  }

  /** Rows of the machine, as many as the schedules that are shown need. */
  get lanes() {
    return this.model.lanesOf(this.rows, [this.a, this.b].filter((number) => number >= 0));
  }

  /** What a link keeps. */
  state() {
    const { a, b, colour, query, job, metric, group, paid, sort, rows, begin, end, low, high } = this;
    return { a, b, colour, query, job, metric, group, paid, sort, rows, begin, end, low, high };
  }

  /** Change some of the state and tell everybody what has changed. */
  set(changes, what = "everything") {
    const whole = this.low === 0 && this.high === this.lanes;
    Object.assign(this, changes);
    if (("a" in changes || "b" in changes) && (whole || this.high > this.lanes)) Object.assign(this, { low: 0, high: this.lanes });
    this.changed(what);
  }

  changed(what) {
    this.dispatchEvent(new CustomEvent("change", { detail: what }));
    if (what !== "cursor" && this.link) this.writeSoon();
  }

  /** Look at a period and a range of lanes, as far as there are any. */
  look(begin, end, low = this.low, high = this.high) {
    const { model } = this;
    const least = Math.min(10, model.length), length = Math.min(Math.max(end - begin, least), model.length);
    const first = Math.min(Math.max(begin, 0), model.length - length);
    const lanes = Math.min(Math.max(high - low, 1), this.lanes);
    const bottom = Math.min(Math.max(low, 0), this.lanes - lanes);
    this.set({ begin: first, end: first + length, low: bottom, high: bottom + lanes }, "window");
  }

  /** Zoom time by a factor around a moment; below 1 is in. */
  zoom(factor, around = (this.begin + this.end) / 2) {
    this.look(around - (around - this.begin) * factor, around + (this.end - around) * factor);
  }

  zoomLanes(factor, around = (this.low + this.high) / 2) {
    this.look(this.begin, this.end, around - (around - this.low) * factor, around + (this.high - around) * factor);
  }

  pan(share) {
    const step = share * (this.end - this.begin);
    this.look(this.begin + step, this.end + step);
  }

  panLanes(share) {
    const step = share * (this.high - this.low);
    this.look(this.begin, this.end, this.low + step, this.high + step);
  }

  reset() {
    this.look(0, this.model.length, 0, this.lanes);
  }

  /** Show the machine by processor, node or GPU. */
  setRows(rows) {
    this.rows = rows;
    this.set({ low: 0, high: this.lanes }, "rows");
  }

  /** Show a job: select it, and move the window to it if it is out of sight. */
  show(job, decisions) {
    this.job = job;
    if (job >= 0 && decisions) {
      const begin = decisions.queued[job], end = decisions.end[job];
      const tiny = end - begin < (this.end - this.begin) / 200;
      if (end < this.begin || begin > this.end || tiny) {
        const margin = Math.max(end - begin, 600);
        this.look(begin - 2 * margin, end + 2 * margin, 0, this.lanes);
      }
    }
    this.changed("job");
  }

  readLink() {
    const given = readFragment();
    if (!given) return;
    const next = { ...this.defaults };
    for (const key of Object.keys(next)) {
      const text = given.get(key);
      if (text === null) continue;
      const value = typeof next[key] === "number" ? Number(text) : text;
      if (typeof value === "string" || Number.isFinite(value)) next[key] = value;
    }
    const schedules = this.model.index.schedules.length;
    const whole = (value, least, most) => (Number.isInteger(value) && value >= least && value < most ? value : least);
    if (!(next.rows in this.model.axes)) next.rows = this.defaults.rows;
    const groups = this.model.groupChoices.map(([key]) => key);
    for (const key of ["group", "paid"]) if (!groups.includes(next[key])) next[key] = this.defaults[key];
    if (given.has("job")) next.job = this.model.rowOf(Number(given.get("job")));
    Object.assign(this, next, { a: whole(next.a, 0, schedules), b: whole(next.b, -1, schedules) });
    this.look(next.begin, next.end, next.low, given.has("high") ? next.high : this.lanes);
  }

  writeSoon() {
    clearTimeout(this.writing);
    this.writing = setTimeout(() => this.writeLink(), 250);
  }

  writeLink() {
    const text = (key, value) => {
      if (value === this.defaults[key]) return null;
      if (key === "job") return this.model.columns.id[value];
      return typeof value === "number" ? Number(value.toPrecision(12)) : value;
    };
    writeFragment(Object.fromEntries(Object.entries(this.state()).map(([key, value]) => [key, text(key, value)])));
  }
}
