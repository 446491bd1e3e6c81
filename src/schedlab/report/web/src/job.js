// All of a job: when it came, why it waited, what started it, and how it ended.

import { element, name, term } from "./dom.js";
import { chainOfCauses, explain, newlyBefore } from "./explain.js";
import { count, countOf, duration, mebibytes, moment, percent, signedDuration, significant } from "./format.js";
import { BACKFILLED, FAILED, INTERRUPTED, LOG_CANCELLED, LOG_FAILED } from "./model.js";

const MOST_NODES = 8;

/** The line or two that a pointer shows. */
export function brief(job, decisions) {
  const { model } = decisions, { columns } = model;
  const who = model.groups.includes("user") ? [" · ", name(model.label("user", columns.user[job]))] : [];
  return [
    element("strong", {}, `job ${columns.id[job]}`), ...who, ` · ${countOf(columns.processors[job], model.unit)}`,
    element("br"), `waited ${duration(decisions.wait(job))}, ran ${duration(decisions.runTime(job))}`,
  ];
}

/** Fill the panel of a job. `choose` is called with a job that the reader clicks on. */
export function describeJob(panel, job, decisions, other, choose) {
  const { model } = decisions, { columns, epoch } = model;
  const link = (row) => element("button", { type: "button", class: "sl-link", click: () => choose(row) }, `job ${columns.id[row]}`);
  const rows = [
    [term("submitted", "Submitted"), moment(columns.submit[job], epoch)],
    ...model.groups.filter((group) => group !== "reason")
      .map((group) => [term("group", model.title(group)), name(model.label(group, columns[group][job]))]),
    [term("processors", "Size"), `${countOf(columns.processors[job], model.unit)}, ${percent(columns.processors[job] / model.size)} of the machine`],
    ...whereRan(decisions, job),
    [term("requested", "Requested time"), columns.requested[job] > 0 ? duration(columns.requested[job]) : "unknown"],
    [term("wait", "Wait"), duration(decisions.wait(job))],
    [term("started", "Started"), [moment(decisions.start[job], epoch), ", ", decisions.has(job, BACKFILLED)
      ? term("backfilled", "backfilled: ahead of a waiting head of the queue") : "in the order of the queue"]],
    [term("ended", "Ended"), `${moment(decisions.end[job], epoch)}, ${ended(decisions, job)}`],
    [term("run", "Run time"), duration(decisions.runTime(job)) + ofRequest(decisions, job)],
    [term("bounded_slowdown", "Bounded slowdown"), significant(decisions.boundedSlowdown(job))],
  ];
  const close = element("button", { type: "button", class: "sl-close", "aria-label": "Close", click: () => choose(-1) }, "×");
  panel.replaceChildren(
    close,
    element("h3", {}, `Job ${columns.id[job]}`),
    element("p", { class: "sl-under" }, "under ", name(decisions.name)),
    list(rows),
    ...why(decisions, job, link),
    ...attempts(decisions, job),
    ...(other ? against(decisions, other, job, link) : []),
  );
}

function list(rows) {
  return element("dl", {}, rows.flatMap(([heading, content]) => [element("dt", {}, heading), element("dd", {}, content)]));
}

function ended(decisions, job) {
  if (decisions.has(job, INTERRUPTED)) return "interrupted, and not started again";
  if (decisions.atRequest(job)) return "at its requested time, before it was done";
  if (decisions.endedAs(job, LOG_FAILED)) return "failed, as the log says";
  return decisions.endedAs(job, LOG_CANCELLED) ? "cancelled, as the log says" : "done";
}

function ofRequest(decisions, job) {
  const requested = decisions.model.columns.requested[job];
  return requested > 0 ? `, ${percent(decisions.runTime(job) / requested)} of the request` : "";
}

function named(jobs, total, link) {
  const parts = jobs.flatMap((row, i) => [element("span", { class: "sl-item" }, link(row), i < jobs.length - 1 ? "," : ""), " "]);
  return total > jobs.length ? [...parts, `and ${count(total - jobs.length)} more`] : parts.slice(0, -1);
}

function group(heading, { count: jobs, work, largest }, decisions, link) {
  const share = duration(work / decisions.model.size);
  const text = jobs ? [`${countOf(jobs, "job")}, work for the whole machine of ${share}; the largest: `, ...named(largest, jobs, link)]
    : ["none"];
  return [heading, text];
}

/** The sentence that answers why, and what it rests on. */
function why(decisions, job, link) {
  const found = explain(decisions, job), { model } = decisions;
  const heading = element("h4", {}, term("reason", "Why it waited"));
  const parents = parentsOf(model, job);
  const dependency = found.held > 0
    ? [element("p", {}, `It could not start for its first ${duration(found.held)}: it waited for other jobs to end`,
      ...(parents.length ? [" (", ...named(parents.slice(0, 5), parents.length, link), ")"] : []), ".")] : [];
  if (found.wait <= 0) return [heading, ...dependency, element("p", {}, "It did not wait in the queue: enough of the machine was free at once.")];
  const parts = [], gpus = found.gpus ? ` and ${significant(found.gpus)} GPU${found.gpus === 1 ? "" : "s"}` : "";
  if (found.resources > 0) parts.push(`for ${duration(found.resources)} fewer than its ${countOf(model.columns.processors[job], model.unit)}${gpus} were free`);
  const elsewhere = model.nodes ? "not on nodes that it could use, or " : "";
  if (found.order > 0) parts.push(`for ${duration(found.order)} enough was free, but ${elsewhere}the scheduler kept it for other jobs or had not looked yet`);
  return [
    heading, ...dependency,
    element("p", {}, `Of its wait of ${duration(found.wait)}, ${parts.join(", and ")}.`),
    list([
      ...told(decisions, job),
      [term("when_it_came", "When it came"), `${countOf(found.queueLength, "job")} waited, ${count(found.freeThen)} of ${countOf(model.size, model.unit)} free`],
      group(term("stood_before", "Stood before it"), found.before, decisions, link),
      group(term("overtook", "Overtook it"), found.overtook, decisions, link),
      group(term("overtook_others", "It overtook"), found.passed, decisions, link),
      [term("freed_by", "Made room"), found.freedBy.length ? named(found.freedBy.slice(0, 5), found.freedBy.length, link)
        : "no job ended in the second in which it started"],
    ]),
  ];
}

/** The nodes of a job, where they are known. */
function whereRan(decisions, job) {
  const { model } = decisions;
  if (!model.nodes) return [];
  const said = (rows, unit) => {
    const held = decisions.heldBy(job, rows);
    const parts = [...held].map(([node, amount]) => `${model.nodes.names[node]} (${Number.isInteger(amount) ? countOf(amount, unit) : `${significant(amount)} ${unit}s`})`);
    return parts.length > MOST_NODES ? `${parts.slice(0, MOST_NODES).join(", ")} and ${countOf(parts.length - MOST_NODES, "more node")}` : parts.join(", ");
  };
  const gpus = model.axes.GPU && decisions.placedGpus.count[job] ? [[term("gpus", "GPUs"), said("GPU", "GPU")]] : [];
  const memory = decisions.memory ? [[term("memory", "Memory"), mebibytes(decisions.heldMemory(job))]] : [];
  return [[term("nodes", "Nodes"), said("processor", model.unit)], ...gpus, ...memory];
}

/** What the scheduler itself gave as reasons, where it was asked. */
function told(decisions, job) {
  const { reasons, reasonNames } = decisions;
  if (!reasons) return [];
  let at = 0;
  for (let row = 0; row < job; row++) at += reasons.count[row];
  const parts = [];
  for (let i = at; i < at + reasons.count[job]; i++) parts.push(`${reasonNames[reasons.name[i]]} for ${duration(reasons.seconds[i])}`);
  return [[term("told_reason", "Slurm's reason"), parts.join(", ") || "never seen waiting"]];
}

function parentsOf(model, job) {
  const { parent, parentCount } = model.columns;
  if (!parent) return [];
  let at = 0;
  for (let row = 0; row < job; row++) at += parentCount[row];
  return [...parent.subarray(at, at + parentCount[job])];
}

/** Runs of a job that may fail and come back. */
function attempts(decisions, job) {
  const { runs, spans, model } = decisions;
  if (!runs) return [];
  const mine = [];
  for (let run = 0; run < runs.job.length; run++) if (runs.job[run] === job) mine.push(run);
  if (mine.length < 2) return [];
  return [
    element("h4", {}, term("attempts", `Started ${count(mine.length)} times`)),
    element("ol", {}, mine.map((run) => element("li", {},
      `${moment(spans.start[run], model.epoch)}: ran ${duration(spans.end[run] - spans.start[run])}, `
      + (runs.flags[run] & INTERRUPTED ? "interrupted" : runs.flags[run] & FAILED ? "not done" : "done") + (runs.flags[run] & BACKFILLED ? ", in a gap" : "")))),
  ];
}

/** The same job under the other schedule, and the chain of causes of the longer wait. */
function against(decisions, other, job, link) {
  const change = other.wait(job) - decisions.wait(job);
  const heading = element("h4", {}, "Under ", name(other.name));
  if (!change) return [heading, element("p", {}, "It waits just as long.")];
  const [earlier, later] = change > 0 ? [decisions, other] : [other, decisions];
  const turn = newlyBefore(earlier, later, job), chain = chainOfCauses(earlier, later, job);
  const ends = {
    submitted: "that one started as soon as it was submitted.",
    nobody: "no job ended in the second in which that one started.",
    swapped: "that one was not delayed itself: here the order of the queue differs.",
    longer: "and so on.",
  };
  return [
    heading,
    element("p", {}, `It waits ${duration(other.wait(job))} instead of ${duration(decisions.wait(job))} (${signedDuration(change)}).`),
    element("p", {}, turn.count
      ? [`Under `, name(later.name), ` ${countOf(turn.count, "job")} went before it that came after it under `, name(earlier.name),
        ": ", ...named(turn.largest, turn.count, link), "."]
      : ["No job took its turn: it was delayed by jobs that were delayed themselves."]),
    element("p", {}, term("chain", "Chain of causes"), " under ", name(later.name), ": "),
    chain.links.length ? element("ol", {},
      chain.links.map(({ job: row, delay }, i) => element("li", {}, i ? "which started when " : "it started when ", link(row),
        ` ended (${delay ? `${signedDuration(delay)} against the other schedule` : "at the same time in both"})`)),
      element("li", { class: "sl-end" }, ends[chain.end])) : element("p", {}, `It starts when no job ends: ${ends[chain.end]}`),
  ];
}
