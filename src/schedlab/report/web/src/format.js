// How numbers, durations and moments are said to a person.

const UNITS = [[86400, "d"], [3600, "h"], [60, "min"]];

/** A number of seconds in the largest unit of which there are two: 90 s, 3.4 h, 11.6 d. */
export function duration(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  const size = Math.abs(seconds);
  for (const [unit, name] of UNITS) if (size >= 2 * unit) return `${significant(seconds / unit)} ${name}`;
  return `${significant(seconds)} s`;
}

/** The same with a sign, for differences. */
export const signedDuration = (seconds) => signed(duration(seconds), seconds);

const signed = (text, seconds) => (seconds > 0 ? "+" : "") + text.replace("-", "−");

/** Durations of a column in one unit: the largest of which the median of those like them, without those of no time, has two. */
export function durations(seconds, like = seconds) {
  const sizes = like.map(Math.abs).filter((size) => size > 0).sort((a, b) => a - b);
  const usual = sizes.length ? (sizes[(sizes.length - 1) >> 1] + sizes[sizes.length >> 1]) / 2 : 0;
  const [unit, name] = UNITS.find(([unit]) => usual >= 2 * unit) ?? [1, "s"];
  return seconds.map((value) => {
    const size = Math.abs(value) / unit;
    if (value && !(size >= 0.01 && size < 1000)) return duration(value);
    return `${size && size < 0.1 ? (value / unit).toFixed(2) : significant(value / unit)} ${name}`;
  });
}

/** The same with signs, for differences. */
export const signedDurations = (seconds, like = seconds) =>
  durations(seconds, like).map((text, row) => signed(text, seconds[row]));

/** A tick of an axis of durations: 1 min, not 60 s. */
export function tickDuration(seconds) {
  for (const [unit, name] of UNITS) if (seconds >= unit) return `${significant(seconds / unit)} ${name}`;
  return `${significant(seconds)} s`;
}

/** A number with three significant digits, or whole with commas from 100 on. */
export function significant(value) {
  if (!Number.isFinite(value)) return "–";
  if (Math.abs(value) >= 100) return WHOLE.format(value).replace("-", "−");
  return String(Number(value.toPrecision(3))).replace("-", "−");
}

const WHOLE = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });

export const count = (value) => WHOLE.format(value);

export const countOf = (number, what) => `${count(number)} ${what}${number === 1 ? "" : "s"}`;

export const percent = (share) => `${Number((100 * share).toPrecision(3))}%`;

/** An amount of memory in MiB, or in GiB from one on. */
export const mebibytes = (amount) => (amount < 1024 ? `${significant(amount)} MiB` : `${significant(amount / 1024)} GiB`);

/** A moment of the page's clock: a date where the log has one, else the time since the first submission. */
export function moment(seconds, epoch) {
  if (epoch === null) return elapsed(seconds);
  const text = new Date(1000 * (epoch + seconds)).toISOString();
  return `${text.slice(0, 10)} ${text.slice(11, 19)} UTC`;
}

/** Time since the first submission: day 3, 14:05:09. */
function elapsed(seconds) {
  const whole = Math.floor(seconds);
  const two = (value) => String(Math.floor(value)).padStart(2, "0");
  const clock = `${two((whole % 86400) / 3600)}:${two((whole % 3600) / 60)}:${two(whole % 60)}`;
  return `day ${count(Math.floor(whole / 86400) + 1)}, ${clock}`;
}

const MONTH = 30 * 86400, YEAR = 365 * 86400;
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800,
  345600, 604800, 1209600, MONTH, 2 * MONTH, 3 * MONTH, 6 * MONTH, YEAR, 2 * YEAR, 5 * YEAR, 10 * YEAR];

/** Ticks of a time axis: positions and texts, about one for each `room` pixels. */
export function timeTicks(begin, end, pixels, epoch, room = 90) {
  const least = ((end - begin) * room) / Math.max(pixels, 1);
  const step = STEPS.find((candidate) => candidate >= least) ?? STEPS.at(-1);
  // Days begin at midnight of the log's clock.
  const offset = epoch === null ? 0 : epoch % 86400;
  const months = step < YEAR ? Math.round(step / MONTH) : 12 * Math.round(step / YEAR);
  const ticks = epoch !== null && months ? firstDays(begin, end, months, epoch) : [];
  if (!ticks.length) for (let at = Math.ceil((begin + offset) / step) * step - offset; at <= end; at += step) ticks.push(at);
  return { step, ticks, texts: ticks.map((at) => tickText(at, step, epoch)) };
}

/** First days of every so many months. */
function firstDays(begin, end, months, epoch) {
  const first = new Date(1000 * (epoch + begin)), found = [];
  for (let month = Math.ceil(first.getUTCMonth() / months) * months; ; month += months) {
    const at = Date.UTC(first.getUTCFullYear(), month) / 1000 - epoch;
    if (at > end) return found;
    if (at >= begin) found.push(at);
  }
}

function tickText(at, step, epoch) {
  if (epoch === null) {
    if (step >= 86400) return `day ${count(at / 86400 + 1)}`;
    return step >= 60 ? elapsed(at).replace(/:\d\d$/, "") : elapsed(at);
  }
  const iso = new Date(1000 * (epoch + at)).toISOString();
  if (step >= 86400) return iso.slice(0, 10);
  return `${iso.slice(5, 10)} ${iso.slice(11, step >= 60 ? 16 : 19)}`;
}
