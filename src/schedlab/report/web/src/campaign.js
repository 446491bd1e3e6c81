// The grid of a campaign: a heat map of any metric, small multiples over the instances, and the runs behind each cell.

import { element, name, select } from "./dom.js";
import { count, countOf, duration, significant } from "./format.js";
import { readFragment, writeFragment } from "./fragment.js";
import { enhance, makeTable } from "./tables.js";

const REFRESH = 5000;
/** Definitions of metrics, by the end of their names. */
const TERMS = ["bounded_slowdown", "slowdown", "wait", "turnaround", "utilisation", "queue_length", "makespan", "throughput", "fairness", "lost_share", "failed_runs", "killed", "backfilled"];

/** Build the campaign's part of the page, if it has one, and refresh a page that is still being written. */
export function showCampaign(campaign) {
  if (!campaign) return;
  if (campaign.running) refreshLater();
  const root = document.getElementById("schedlab-campaign-view");
  if (root && campaign.rows.length) new CampaignView(root, campaign).show();
}

/** Load the page again while it is looked at; a file on a disk cannot be asked whether it has changed. */
function refreshLater() {
  setTimeout(() => {
    const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(document.activeElement?.tagName);
    if (document.hidden || typing || document.querySelector("dialog[open]")) refreshLater();
    else location.reload();
  }, REFRESH);
}

class CampaignView {
  constructor(root, campaign) {
    Object.assign(this, { root, campaign });
    this.readLink();
    addEventListener("hashchange", () => {
      if (!readFragment()) return;
      this.readLink();
      this.show();
    });
  }

  /** Links keep the metric, and the cell whose runs are shown: a page that loads itself again shows the same. */
  readLink() {
    const given = readFragment(), { metric, metrics, places, schedulers } = this.campaign;
    this.metric = metrics.find((key) => key === given?.get("grid")) ?? metric;
    const [place, scheduler] = (given?.get("cell") ?? "").split(".").map(Number);
    this.cell = places[place] !== undefined && schedulers[scheduler] !== undefined ? [place, scheduler] : null;
  }

  writeLink() {
    writeFragment({ grid: this.metric === this.campaign.metric ? null : this.metric, cell: this.cell?.join(".") ?? null });
  }

  value(row) {
    return row.values[this.campaign.metrics.indexOf(this.metric)];
  }

  say(value) {
    return /wait|run_time|turnaround|makespan/.test(this.metric) ? duration(value) : significant(value);
  }

  /** Key of the definition of the metric, if it has one. */
  term() {
    return TERMS.find((key) => this.metric.includes(key));
  }

  show() {
    const { campaign } = this;
    this.grid = new Map();
    for (const row of campaign.rows) {
      const key = `${row.place} ${row.scheduler}`;
      if (!this.grid.has(key)) this.grid.set(key, []);
      this.grid.get(key).push(row);
    }
    const defined = this.term();
    this.runs = element("div", { "aria-live": "polite" });
    this.root.replaceChildren(
      element("div", { class: "sl-controls" }, select("Metric", campaign.metrics.map((key) => [key, key.replaceAll("_", " ")]), this.metric,
        (metric) => {
          this.metric = metric;
          this.writeLink();
          this.show();
        }), defined ? element("button", { type: "button", class: "sl-term", "data-term": defined }, "What is this?") : ""),
      this.heatMap(), this.multiples(), this.runs);
    if (this.cell) this.showRuns(...this.cell);
  }

  cellOf(place, scheduler) {
    const values = (this.grid.get(`${place} ${scheduler}`) ?? []).map((row) => this.value(row)).filter((value) => value !== null).sort((a, b) => a - b);
    return { values, median: values.length ? (values[(values.length - 1) >> 1] + values[values.length >> 1]) / 2 : NaN };
  }

  /** Medians by workload and scheduler, coloured by the ratio to the baseline of the same workload. */
  heatMap() {
    const { places, schedulers, baseline } = this.campaign, larger = this.campaign.largerIsBetter.includes(this.metric);
    const body = places.map((place, number) => {
      const base = this.cellOf(number, schedulers.indexOf(baseline)).median;
      return element("tr", {}, element("th", { scope: "row" }, name(place)), schedulers.map((_, scheduler) => {
        const { values, median } = this.cellOf(number, scheduler);
        if (!values.length) return element("td", { class: "number" }, "–");
        const ratio = Math.log2(median / base), better = larger ? ratio > 0 : ratio < 0;
        const weight = Number.isFinite(ratio) ? Math.min(Math.abs(ratio) / 2, 1) : 0;
        const button = element("button", { type: "button", class: "sl-cell", title: `${countOf(values.length, "run")}: show them`,
          click: () => this.showRuns(number, scheduler, true) }, this.say(median));
        const cell = element("td", { class: `number sl-heat ${weight < 0.02 ? "" : better ? "sl-better" : "sl-worse"}` }, button);
        cell.style.setProperty("--weight", `${Math.round(8 + 36 * weight)}%`);
        return cell;
      }));
    });
    const head = element("tr", {}, element("th", { scope: "col" }, "Workload"), schedulers.map((text) => element("th", { scope: "col", class: "number" }, name(text))));
    const caption = `Median ${this.metric.replaceAll("_", " ")} of each cell. Green: better than ${baseline} on the same workload; red: worse; full colour at a factor of 4. A cell opens its runs.`;
    const table = element("table", { class: "sl-heat-map" }, element("caption", {}, caption), element("thead", {}, head), element("tbody", {}, body));
    const holder = element("div", {}, element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Heat map" }, table));
    enhance(table);
    return holder;
  }

  /** One small chart per workload: the values of each scheduler over the instances, on one scale. */
  multiples() {
    const { places, schedulers } = this.campaign;
    const all = this.campaign.rows.map((row) => this.value(row)).filter((value) => value !== null);
    const most = Math.max(...all), least = Math.min(...all), wide = least > 0 && most / least > 20;
    const scale = (value) => (wide ? Math.log(value / least) / Math.log(most / least) : (value - Math.min(least, 0)) / (most - Math.min(least, 0) || 1));
    const figures = places.map((place, number) => {
      const height = 14 * schedulers.length + 8, width = 240;
      const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Values of ${place}` });
      schedulers.forEach((_, scheduler) => {
        const { values, median } = this.cellOf(number, scheduler), y = 14 * scheduler + 11;
        picture.append(svg("line", { x1: 2, x2: width - 2, y1: y, y2: y, class: "sl-line" }));
        for (const value of values) picture.append(svg("circle", { cx: 4 + scale(value) * (width - 8), cy: y, r: 2.5, class: "sl-dot" }));
        if (values.length) picture.append(svg("rect", { x: 3 + scale(median) * (width - 8), y: y - 5, width: 2, height: 10, class: "sl-median" }));
      });
      return element("figure", {}, element("figcaption", {}, name(place)), picture);
    });
    const note = `Each dot is a run, each stroke a median; from top to bottom ${schedulers.join(", ")}; from ${this.say(least)} to ${this.say(most)}${wide ? ", logarithmic" : ""}, on the same scale everywhere.`;
    return element("div", {}, element("div", { class: "sl-multiples" }, figures), element("p", { class: "note" }, note));
  }

  showRuns(place, scheduler, focus = false) {
    const { places, schedulers, run } = this.campaign;
    this.cell = [place, scheduler];
    this.writeLink();
    const rows = (this.grid.get(`${place} ${scheduler}`) ?? []).map((row) => {
      const value = this.value(row);
      return [row.instance, { text: value === null ? "–" : this.say(value), value: value ?? "" },
        { text: count(row.jobs ?? NaN), value: row.jobs ?? "" },
        { node: element("code", {}, `schedlab campaign task ${run} ${row.task.slice(0, 12)}`) }];
    });
    const table = makeTable(`Runs of ${schedulers[scheduler]} on ${places[place]}`,
      [["Instance", false, "instances"], [this.metric.replaceAll("_", " "), true, this.term()], ["Jobs", true, "jobs"], ["To see its schedule", false, "command"]], rows);
    this.runs.replaceChildren(table);
    if (focus) table.scrollIntoView({ block: "nearest" });
  }
}

function svg(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
