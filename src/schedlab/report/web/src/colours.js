// The colour of each job, by what the reader chose. Categories use Paul Tol's "muted" scheme, which all kinds of colour
// vision tell apart; amounts go from pale to dark.

import { BACKFILLED, INTERRUPTED, LOG_CANCELLED, LOG_FAILED } from "./model.js";
import { count, duration, significant } from "./format.js";

const CATEGORIES = ["#4477aa", "#cc6677", "#2e9e6b", "#88ccee", "#aa4499", "#b8a53a", "#44aa99", "#dd8833", "#6f5fc2",
  "#9aa6b2"];
const OTHERS = "#8a94a3";
const AMOUNTS = ["#c9d7e8", "#9fbfdc", "#6fa3cc", "#e9b44c", "#dd8833", "#cc4b4b", "#8f1d4f"];
const SHORTER = ["#17594a", "#2e9e6b", "#8fd0b4"], SAME = "#c3c9d1", LONGER = ["#f0b9a0", "#d9694f", "#9b2335"];

const INTERRUPTED_CLASS = 4;
const WAITS = [0, 60, 600, 3600, 6 * 3600, 86400];
const SLOWDOWNS = [1, 2, 5, 10, 100, 1000];
const CHANGES = [-86400, -3600, -60, 60, 3600, 86400];

/** What jobs can be coloured by: key and name. */
export function colourChoices(model, compared) {
  return [
    ...model.groups.map((group) => [group, model.title(group)]),
    ["sizeClass", "Size class"], ["wait", "Wait"], ["slowdown", "Bounded slowdown"],
    ["pass", "How it was started"], ["end", "How it ended"],
    ...(compared ? [["change", "Change of its wait"]] : []),
  ];
}

/** Return for each job its class, and for each class colour, name and a query that finds it. */
export function classify(key, decisions, other) {
  const { model } = decisions;
  if (key === "wait") return binned(model, WAITS, AMOUNTS, (job) => decisions.wait(job), duration, "wait");
  if (key === "slowdown") return binned(model, SLOWDOWNS, AMOUNTS, (job) => decisions.boundedSlowdown(job), significant, "bsld");
  if (key === "change" && other) return changes(decisions, other);
  if (key === "pass") return passes(decisions);
  if (key === "end") return ends(decisions);
  return grouped(decisions, model.columns[key] ? key : "sizeClass");
}

/** The groups that hold most of the machine have colours of their own. */
function grouped(decisions, group) {
  const { model } = decisions, column = model.columns[group], work = new Map();
  for (let job = 0; job < model.count; job++)
    work.set(column[job], (work.get(column[job]) ?? 0) + model.columns.processors[job] * decisions.runTime(job));
  const members = group === "sizeClass" ? model.members(group)
    : [...model.members(group)].sort(([a], [b]) => work.get(b) - work.get(a));
  const shown = members.length <= CATEGORIES.length ? members : members.slice(0, CATEGORIES.length - 1);
  const classOf = new Map(shown.map(([value], place) => [value, place]));
  const of = new Uint8Array(model.count);
  for (let job = 0; job < of.length; job++) of[job] = classOf.get(column[job]) ?? shown.length;
  const classes = shown.map(([value, jobs], place) => ({
    colour: CATEGORIES[place], text: model.label(group, value), jobs,
    query: `${group}:${value}`,
  }));
  const rest = members.slice(shown.length);
  if (rest.length) {
    const jobs = rest.reduce((sum, member) => sum + member[1], 0);
    classes.push({ colour: OTHERS, text: `${count(rest.length)} others`, jobs, query: null });
  }
  return { of, classes };
}

function binned(model, bounds, colours, value, text, quantity) {
  const of = new Uint8Array(model.count), jobs = new Array(bounds.length + 1).fill(0);
  for (let job = 0; job < of.length; job++) {
    const amount = value(job);
    let place = 0;
    while (place < bounds.length && amount > bounds[place]) place++;
    jobs[of[job] = place]++;
  }
  const classes = colours.map((colour, place) => ({
    colour, jobs: jobs[place],
    text: place === 0 ? `at most ${text(bounds[0])}` : place === bounds.length ? `above ${text(bounds.at(-1))}`
      : `up to ${text(bounds[place])}`,
    query: [place > 0 ? `${quantity}>${bounds[place - 1]}` : "", place < bounds.length ? `${quantity}<=${bounds[place]}` : ""]
      .join(" ").trim(),
  }));
  return { of, classes };
}

function changes(decisions, other) {
  const colours = [...SHORTER, SAME, ...LONGER];
  const texts = ["over a day earlier", "1 h to a day earlier", "1 min to 1 h earlier", "within a minute",
    "1 min to 1 h later", "1 h to a day later", "over a day later"];
  const result = binned(decisions.model, CHANGES, colours, (job) => other.wait(job) - decisions.wait(job), duration, "wait");
  result.classes.forEach((entry, place) => Object.assign(entry, { text: texts[place], query: null }));
  return result;
}

function passes(decisions) {
  return sorted(decisions, (job) => (decisions.has(job, BACKFILLED) ? 1 : 0), [
    ["#4477aa", "in the order of the queue", null], ["#e9b44c", "backfilled", "backfilled"],
  ]);
}

function ends(decisions) {
  const kind = (job) => (decisions.has(job, INTERRUPTED) ? INTERRUPTED_CLASS : decisions.atRequest(job) ? 1
    : decisions.endedAs(job, LOG_FAILED) ? 2 : decisions.endedAs(job, LOG_CANCELLED) ? 3 : 0);
  const found = sorted(decisions, kind, [
    ["#4477aa", "done", null], ["#cc6677", "ended at its requested time", "killed"],
    ["#b8a53a", "failed, as the log says", "failed"], ["#aa4499", "cancelled, as the log says", "cancelled"],
    ["#8e7cc3", "interrupted", "interrupted"],
  ]);
  // A job that was interrupted and came back is done in the end: its interrupted runs have a colour of their own.
  found.classes[INTERRUPTED_CLASS].jobs = decisions.interruptions.reduce((jobs, times) => jobs + (times > 0), 0);
  return { ...found, apart: INTERRUPTED_CLASS };
}

/** Jobs by their kind, a position in a list of [colour, text, query]. */
function sorted({ model }, kind, kinds) {
  const of = new Uint8Array(model.count), jobs = kinds.map(() => 0);
  for (let job = 0; job < of.length; job++) jobs[of[job] = kind(job)]++;
  return { of, classes: kinds.map(([colour, text, query], place) => ({ colour, text, query, jobs: jobs[place] })) };
}

/**
 * Return the colour of each job as a pixel (little-endian RGBA), with three shades so that neighbours differ; then, if a
 * class stands `apart`, the colour of each job's interrupted runs.
 */
export function pixels(classified, matches, dark) {
  const { of, classes, apart } = classified, jobs = of.length;
  const shades = classes.map(({ colour }) => [-0.09, 0, 0.1].map((shift) => pixel(shade(rgb(colour), shift))));
  const faint = pixel(dark ? [54, 60, 69] : [216, 220, 226]);
  const result = new Uint32Array(apart === undefined ? jobs : 2 * jobs);
  for (let at = 0; at < result.length; at++) {
    const job = at % jobs, kind = at < jobs ? of[job] : apart;
    result[at] = matches === null || matches[job] ? shades[kind][job % 3] : faint;
  }
  return result;
}

const rgb = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
const shade = (channels, shift) => channels.map((value) => Math.round(shift < 0 ? value * (1 + shift) : value + (255 - value) * shift));
const pixel = ([red, green, blue]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;

/** A CSS colour of six digits as a pixel. */
export const pixelOf = (colour) => pixel(rgb(colour));

/** A pixel as CSS. */
export const css = (value) => `rgb(${value & 255} ${(value >> 8) & 255} ${(value >> 16) & 255})`;
