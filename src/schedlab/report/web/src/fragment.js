// The fragment of the address: parts of the page keep there what is looked at, so that a link leads to the same view.

const MARK = "v";

/** Return what a link says, or null if it is not one of ours. */
export function readFragment() {
  const given = new URLSearchParams(location.hash.slice(1));
  return given.has(MARK) ? given : null;
}

/** Keep values, null for the usual ones, beside those of other parts of the page. */
export function writeFragment(values) {
  const link = readFragment() ?? new URLSearchParams();
  for (const [key, value] of Object.entries(values)) {
    if (value === null) link.delete(key);
    else link.set(key, value);
  }
  link.delete(MARK);
  const written = String(link) && `#${MARK}=1&${link}`;
  if (location.hash !== written) history.replaceState(null, "", written || location.href.split("#")[0]);
}
