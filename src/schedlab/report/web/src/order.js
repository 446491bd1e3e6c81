// Sorting and searching of large columns.

/** Return the row numbers in ascending order of a column; rows of equal values keep their order. */
export function sortedRows(values) {
  const rows = new Int32Array(values.length);
  for (let i = 0; i < rows.length; i++) rows[i] = i;
  let ascending = true;
  for (let i = 1; i < values.length && ascending; i++) ascending = values[i] >= values[i - 1];
  if (ascending) return rows;
  const least = values.reduce((a, b) => (b < a ? b : a), Infinity);
  const most = values.reduce((a, b) => (b > a ? b : a), -Infinity);
  if (Number.isInteger(least) && (most - least + 1) * values.length < 2 ** 53 && isWhole(values)) {
    // One number holds value and row: typed arrays sort numbers fast, and no comparison is called.
    const keys = new Float64Array(values.length);
    for (let i = 0; i < keys.length; i++) keys[i] = (values[i] - least) * values.length + i;
    keys.sort();
    for (let i = 0; i < rows.length; i++) rows[i] = keys[i] % values.length;
    return rows;
  }
  return rows.sort((a, b) => values[a] - values[b] || a - b);
}

function isWhole(values) {
  if (values instanceof Int32Array || values instanceof Uint8Array) return true;
  return values.every(Number.isInteger);
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
