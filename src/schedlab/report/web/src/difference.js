// Two schedulers on the same jobs: who won, who paid, and which jobs moved most.

import { cloud } from "./cloud.js";
import { element, name, select, term } from "./dom.js";
import { count, countOf, duration, durations, percent, signedDuration, signedDurations } from "./format.js";
import { makeTable } from "./tables.js";

const MOST_MOVED = 10, MOST_GROUPS = 200;
const WEEK = 604800, DAY = 86400, FEWEST = 6, RESAMPLES = 2000;

export class Difference {
  constructor(model, view, choose) {
    Object.assign(this, { model, view, choose });
    this.root = element("div", { class: "sl-difference" });
  }

  show(first, second) {
    Object.assign(this, { first, second });
    const { model } = this;
    this.change = new Float64Array(model.count).map((_, job) => second.wait(job) - first.wait(job));
    const canvas = element("canvas", { role: "img" });
    this.tables = element("div");
    this.root.replaceChildren(
      element("p", { class: "sl-answer" }, ...this.sentence()),
      element("div", { class: "sl-columns" },
        element("figure", {}, canvas, element("figcaption", {}, "Each job's wait under both. Below the line: shorter under ",
          name(second.name), ". Darker: more jobs. Scales are logarithmic from 1 s on.")),
        element("div", {}, select("Who won, who paid, by", model.groupChoices, this.view.paid, (paid) => this.view.set({ paid }, "paid")),
          this.tables)),
      element("h4", {}, "The jobs that moved most"),
      this.movedTable(),
    );
    this.showGroups();
    cloud(canvas, first, second);
  }

  showGroups() {
    this.tables.replaceChildren(this.groupTable());
  }

  /** The answer in one sentence, with its uncertainty. */
  sentence() {
    const { change, first, second, model } = this;
    let sooner = 0, later = 0, total = 0, before = 0;
    for (let job = 0; job < change.length; job++) {
      if (change[job] < 0) sooner++;
      if (change[job] > 0) later++;
      total += change[job];
      before += first.wait(job);
    }
    const jobs = Math.max(model.count, 1), mean = total / jobs;
    const blocks = blockMeans(change, model.columns.submit);
    const unit = blocks.length === WEEK ? "weeks" : "days";
    const range = interval(blocks.means);
    const sure = range ? [" ", element("span", { class: "sl-item" }, "(", term("interval", "95% interval")), `: ${signedDuration(range[0])} to ${signedDuration(range[1])}, from ${countOf(blocks.means.length, unit.slice(0, -1))})`]
      : [` (${countOf(blocks.means.length, unit.slice(0, -1))} of submissions are too few for an interval)`];
    const how = mean < 0 ? "shorter" : "longer";
    const head = total === 0 ? ["The mean wait is the same under both"]
      : ["Under ", name(second.name), ` jobs wait ${duration(Math.abs(mean))} ${how} on average than under `, name(first.name), ...sure];
    return [...head, `: ${duration((before + total) / jobs)} instead of ${duration(before / jobs)}. `,
      `${percent(sooner / jobs)} of the jobs start sooner, ${percent(later / jobs)} later.`];
  }

  groupTable() {
    const { model, change, first, view: { paid: group } } = this, column = model.columns[group];
    const sums = new Map();
    for (let job = 0; job < model.count; job++) {
      let row = sums.get(column[job]);
      if (!row) sums.set(column[job], (row = { jobs: 0, change: 0, before: 0, sooner: 0, later: 0 }));
      row.jobs++;
      row.change += change[job];
      row.before += first.wait(job);
      row.sooner += change[job] < 0;
      row.later += change[job] > 0;
    }
    const rows = [...sums].sort(([, a], [, b]) => a.change - b.change);
    const shown = rows.length > MOST_GROUPS ? [...rows.slice(0, MOST_GROUPS / 2), ...rows.slice(-MOST_GROUPS / 2)] : rows;
    const before = shown.map(([, row]) => row.before / row.jobs), changes = shown.map(([, row]) => row.change / row.jobs);
    const waits = durations(before), longer = signedDurations(changes, before);
    const cells = shown.map(([value, row], line) => [
      model.label(group, value), { text: count(row.jobs), value: row.jobs },
      { text: waits[line], value: before[line] },
      { text: longer[line], value: changes[line] },
      { text: percent(row.sooner / row.jobs), value: row.sooner / row.jobs },
      { text: percent(row.later / row.jobs), value: row.later / row.jobs },
    ]);
    const few = shown.length < rows.length ? `, the ${MOST_GROUPS / 2} at each end of ${count(rows.length)}` : "";
    return makeTable(`Mean wait under ${first.name} and its change under ${this.second.name}${few}`,
      [[model.title(group), false, group === "sizeClass" ? "size_class" : "group"], ["Jobs", true, "jobs"], ["Wait before", true, "wait"], ["Change", true, "change"], ["Sooner", true, "sooner"], ["Later", true, "sooner"]], cells);
  }

  movedTable() {
    const { change, first, second, model } = this;
    const moved = largest(change, MOST_MOVED), users = model.groups.includes("user");
    const before = moved.map((job) => first.wait(job)), after = moved.map((job) => second.wait(job)), like = [...before, ...after];
    const waits = [durations(before, like), durations(after, like)], longer = signedDurations(moved.map((job) => change[job]), like);
    const cells = moved.map((job, line) => [
      { node: element("button", { type: "button", class: "sl-link", click: () => this.choose(job) }, `job ${model.columns.id[job]}`), value: model.columns.id[job] },
      ...(users ? [model.label("user", model.columns.user[job])] : []),
      { text: count(model.columns.processors[job]), value: model.columns.processors[job] },
      { text: waits[0][line], value: before[line] },
      { text: waits[1][line], value: after[line] },
      { text: longer[line], value: change[job] },
    ]);
    return makeTable("A job opens with the chain of causes of its change",
      [["Job", false, "job"], ...(users ? [["User", false, "group"]] : []), ["Size", true, "processors"], [`Wait, ${first.name}`, true, "wait"], [`Wait, ${second.name}`, true, "wait"], ["Change", true, "change"]], cells);
  }
}

/** Rows of the values that are farthest from zero, the farthest first. */
function largest(values, number) {
  const rows = [];
  for (let row = 0; row < values.length; row++) {
    const size = Math.abs(values[row]);
    if (!size || (rows.length === number && size <= Math.abs(values[rows.at(-1)]))) continue;
    let at = rows.findIndex((other) => Math.abs(values[other]) < size);
    if (at < 0) at = rows.length;
    rows.splice(at, 0, row);
    if (rows.length > number) rows.pop();
  }
  return rows;
}

/** Mean changes of blocks of submission: whole weeks, or days where there are fewer than six. */
function blockMeans(change, submit) {
  const last = submit.length ? submit[submit.length - 1] + 1 : 0;
  const length = Math.floor(last / WEEK) >= FEWEST ? WEEK : DAY;
  const blocks = Math.max(Math.floor(last / length), 1);
  const sums = new Float64Array(blocks), jobs = new Float64Array(blocks);
  for (let job = 0; job < change.length; job++) {
    const block = Math.floor(submit[job] / length);
    if (block >= blocks) continue;
    sums[block] += change[job];
    jobs[block]++;
  }
  const used = [...jobs.keys()].filter((block) => jobs[block]);
  return { length, means: used.map((block) => ({ sum: sums[block], jobs: jobs[block] })) };
}

/** A bootstrap over blocks, of the mean over jobs: percentiles of the resampled means; null for fewer than six blocks. */
function interval(blocks) {
  if (blocks.length < FEWEST) return null;
  const draw = generator(1), means = new Float64Array(RESAMPLES);
  for (let i = 0; i < RESAMPLES; i++) {
    let sum = 0, jobs = 0;
    for (let k = 0; k < blocks.length; k++) {
      const block = blocks[Math.floor(draw() * blocks.length)];
      sum += block.sum;
      jobs += block.jobs;
    }
    means[i] = sum / jobs;
  }
  means.sort();
  return [means[Math.floor(0.025 * RESAMPLES)], means[Math.ceil(0.975 * RESAMPLES) - 1]];
}

/** Mulberry32: the same numbers for the same seed everywhere. */
function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
