// The jobs that the search finds, as a table that sorts and copies all of them, however many are shown.

import { element, name } from "./dom.js";
import { count, countOf, duration, moment, significant } from "./format.js";
import { BACKFILLED, KILLED } from "./model.js";
import { copyButton, csvLine, what } from "./tables.js";

const SHOWN = 50, MOST_COPIED = 200_000, MOST_GROUPS = 5;

export class Jobs {
  constructor(model, view, choose) {
    Object.assign(this, { model, view, choose });
    this.root = element("div", { class: "sl-jobs" });
  }

  /** Columns: key, title, value of a job, how it is said, whether that is a text, key of the definition. */
  columns() {
    const { model } = this, { columns } = model, [first, ...others] = model.groups.slice(0, MOST_GROUPS);
    const of = (group) => [group, model.title(group), (_, job) => columns[group][job], (value) => model.label(group, value), true, "group"];
    return [
      ["job", "Job", (_, job) => columns.id[job], (value) => String(value), true, "job"],
      ...(first ? [of(first)] : []),
      ["submit", "Submitted", (_, job) => columns.submit[job], (value) => moment(value, model.epoch), false, "submitted"],
      ["size", "Size", (_, job) => columns.processors[job], count, false, "processors"],
      ["requested", "Requested", (_, job) => columns.requested[job], (value) => (value > 0 ? duration(value) : "–"), false, "requested"],
      ["wait", "Wait", (decisions, job) => decisions.wait(job), duration, false, "wait"],
      ["run", "Run time", (decisions, job) => decisions.runTime(job), duration, false, "run"],
      ["bsld", "Bounded slowdown", (decisions, job) => decisions.boundedSlowdown(job), significant, false, "bounded_slowdown"],
      ...others.map(of),
    ];
  }

  show(decisions, matches) {
    const { model, view } = this, columns = this.columns(), down = view.sort.startsWith("-");
    const [sortedBy, , value] = columns.find(([key]) => key === view.sort.replace("-", "")) ?? columns[0];
    const rows = [];
    for (let job = 0; job < model.count; job++) if (!matches || matches[job]) rows.push(job);
    const amounts = new Float64Array(model.count);
    for (const job of rows) amounts[job] = value(decisions, job);
    const order = (a, b) => (down ? amounts[b] - amounts[a] : amounts[a] - amounts[b]) || a - b;
    const first = firstOf(rows, amounts, down).sort(order).slice(0, SHOWN);
    const head = columns.map(([key, title, , , text, defined]) => {
      const sorted = key === sortedBy ? (down ? "descending" : "ascending") : null;
      const button = element("button", { type: "button", class: "sl-sort", click: () => {
        view.set({ sort: `${key === sortedBy && down ? "" : "-"}${key}` }, "sort");
        this.show(decisions, matches);
        [...this.root.querySelectorAll("th button")].find((each) => each.textContent === title)?.focus();
      } }, title);
      return element("th", { scope: "col", class: !text && "number", "aria-sort": sorted }, button, defined && what(defined, title));
    });
    const body = first.map((job) => element("tr", {}, columns.map(([key, , of, say, text]) => {
      const said = say(of(decisions, job));
      if (key === "job") return element("th", { scope: "row" }, element("button", { type: "button", class: "sl-link", click: () => this.choose(job) }, said));
      return element("td", { class: !text && "number" }, text ? name(said) : said);
    })));
    const caption = `${matches ? "Jobs found" : "All jobs"}: ${countOf(rows.length, "job")}${rows.length > SHOWN ? `, the first ${SHOWN} shown` : ""}`;
    this.root.replaceChildren(
      element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Table: jobs" },
        element("table", {}, element("caption", {}, caption), element("thead", {}, element("tr", {}, head)), element("tbody", {}, body))),
      element("p", { class: "sl-tools" }, copyButton(() => this.csv(decisions, rows.sort(order), columns))),
    );
  }

  csv(decisions, rows, columns) {
    const head = [...columns.map(([key]) => key), "start", "end", "backfilled", "killed"];
    const lines = rows.slice(0, MOST_COPIED).map((job) => csvLine([
      ...columns.map(([, , of, say, text]) => (text ? say(of(decisions, job)) : of(decisions, job))),
      decisions.start[job], decisions.end[job], Number(decisions.has(job, BACKFILLED)), Number(decisions.has(job, KILLED)),
    ]));
    return [csvLine(head), ...lines].join("\n");
  }
}

/** Return the rows whose amounts are not beyond that of the last row shown: to sort all would take seconds. */
function firstOf(rows, amounts, down) {
  if (rows.length <= SHOWN) return [...rows];
  const sorted = Float64Array.from(rows, (row) => amounts[row]).sort();
  const limit = down ? sorted.at(-SHOWN) : sorted[SHOWN - 1];
  const beyond = rows.filter((row) => (down ? amounts[row] > limit : amounts[row] < limit));
  return [...beyond, ...rows.filter((row) => amounts[row] === limit).slice(0, SHOWN - beyond.length)];
}
