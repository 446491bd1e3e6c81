// Sorting and searching of large columns.

const DIGITS = 65536;

/** Return the row numbers in ascending order of a column; rows of equal values keep their order. */
export function sortedRows(values) {
  const rows = new Int32Array(values.length);
  let ascending = true;
  for (let i = 0; i < rows.length; i++) {
    rows[i] = i;
    ascending &&= i === 0 || values[i] >= values[i - 1];
  }
  if (ascending) return rows;
  if (values instanceof Float64Array) return rows.sort((a, b) => values[a] - values[b] || a - b);
  // Two passes over 16 bits each: ten times as fast as to compare.
  const low = sortBy(rows, (row) => values[row] & (DIGITS - 1));
  return sortBy(low, (row) => (values[row] >> 16) + DIGITS / 2);
}

/** Return rows in ascending order of a digit, those of equal digits in their order. */
function sortBy(rows, digit) {
  const places = new Int32Array(DIGITS + 1), sorted = new Int32Array(rows.length);
  for (let i = 0; i < rows.length; i++) places[digit(rows[i]) + 1]++;
  for (let value = 0; value < DIGITS; value++) places[value + 1] += places[value];
  for (let i = 0; i < rows.length; i++) sorted[places[digit(rows[i])]++] = rows[i];
  return sorted;
}

/** Return how many of ascending values are at most `limit`. */
export function countUpTo(values, limit) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Return how many of ascending values are below `limit`. */
export function countBelow(values, limit) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Return the quantile of ascending values, linear between the two nearest. */
export function quantile(values, share) {
  if (!values.length) return NaN;
  const place = share * (values.length - 1), below = Math.floor(place);
  const above = Math.min(below + 1, values.length - 1);
  return values[below] + (place - below) * (values[above] - values[below]);
}
