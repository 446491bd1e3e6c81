// The search: terms that a job must all meet, such as "user:7 size>64 wait>2h backfilled".

import { BACKFILLED, LOG_CANCELLED, LOG_FAILED } from "./model.js";

const SECONDS = { s: 1, min: 60, m: 60, h: 3600, d: 86400, w: 604800, "": 1 };

/** What can be compared: how a job's value is found, and whether it is a duration. */
const QUANTITIES = {
  size: [(model, _, job) => model.columns.processors[job], false],
  wait: [(_, decisions, job) => decisions.wait(job), true],
  run: [(_, decisions, job) => decisions.runTime(job), true],
  turnaround: [(_, decisions, job) => decisions.turnaround(job), true],
  requested: [(model, _, job) => model.columns.requested[job], true],
  slowdown: [(_, decisions, job) => decisions.slowdown(job), false],
  bsld: [(_, decisions, job) => decisions.boundedSlowdown(job), false],
  job: [(model, _, job) => model.columns.id[job], false],
};

const ENDS = { failed: LOG_FAILED, cancelled: LOG_CANCELLED };

const COMPARE = {
  ">": (a, b) => a > b, "<": (a, b) => a < b, ">=": (a, b) => a >= b, "<=": (a, b) => a <= b, "=": (a, b) => a === b,
};

export const HELP = "A job number, or terms that must all hold: user:NAME, partition:NAME, size>64, wait>2h, run<10min, "
  + "slowdown>10, backfilled, killed, interrupted, failed, cancelled.";

/** Return a test of jobs, or null for an empty query. Throws an Error with a sentence for a person. */
export function parseQuery(text, model) {
  const terms = text.match(/[^\s"]*"[^"]*"|\S+/g) ?? [];
  if (!terms.length) return null;
  const tests = terms.map((part) => parseTerm(part, model));
  return (decisions, job) => tests.every((test) => test(decisions, job));
}

function parseTerm(part, model) {
  if (part === "backfilled") return (decisions, job) => decisions.has(job, BACKFILLED);
  if (part === "killed") return (decisions, job) => decisions.atRequest(job);
  if (part === "interrupted") return (decisions, job) => decisions.interruptions[job] > 0;
  if (part in ENDS) return (decisions, job) => decisions.endedAs(job, ENDS[part]);
  if (/^\d+$/.test(part)) return (_, job) => model.columns.id[job] === Number(part);
  const compared = part.match(/^([a-z]+)(>=|<=|>|<|=)(\d+(?:\.\d+)?)([a-z]*)$/i);
  if (compared && compared[1].toLowerCase() in QUANTITIES) {
    const [, quantity, sign, digits, unit] = compared;
    const [value, timed] = QUANTITIES[quantity.toLowerCase()];
    if (unit && !(timed && unit in SECONDS)) throw new Error(`“${unit}” is not a unit of ${quantity}`);
    const limit = Number(digits) * (timed ? SECONDS[unit] : 1);
    return (decisions, job) => COMPARE[sign](value(model, decisions, job), limit);
  }
  const [group, ...rest] = part.split(":");
  const wanted = rest.join(":").replaceAll('"', "");
  if (rest.length && (model.groups.includes(group) || group === "sizeClass" || group === "class")) {
    const column = group === "class" ? "sizeClass" : group;
    const named = (test) => model.members(column).map(([value]) => value).filter((value) => test(value, model.label(column, value).toLowerCase()));
    const exact = named((value, label) => String(value) === wanted || label === wanted.toLowerCase());
    const values = new Set(exact.length ? exact : named((_, label) => label.startsWith(wanted.toLowerCase())));
    if (!values.size) throw new Error(`no ${group} is called “${wanted}”`);
    return (_, job) => values.has(model.columns[column][job]);
  }
  throw new Error(`“${part}” is not understood. ${HELP}`);
}
