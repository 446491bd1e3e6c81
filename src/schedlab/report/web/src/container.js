// Reads what report/container.py writes: columns of numbers, compressed, inside a page or a notebook's message.

export const FORMAT = 2;

const ARRAYS = { u1: Uint8Array, i4: Int32Array, f8: Float64Array };

/** Decode base64 into bytes. */
export function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Decompress zlib data. */
async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Columns by their descriptions in the index. `load(number)` gives the compressed bytes of a block. */
export class Container {
  constructor(load) {
    this.load = load;
  }

  /** Return one column as a typed array. */
  async read(column) {
    if (column === undefined) return null;
    if ("constant" in column) return constantColumn(column.constant, column.length);
    const planes = await inflate(await this.load(column.block));
    const { length } = column;
    const size = ARRAYS[column.type].BYTES_PER_ELEMENT;
    if (planes.length !== length * size) throw new Error(`block ${column.block} is damaged`);
    if (size === 1) return planes;
    if (column.type === "i4") return joinWords(planes, length, column.differences);
    const bytes = new Uint8Array(length * size);
    for (let plane = 0; plane < size; plane++)
      for (let i = 0, at = plane * length; i < length; i++) bytes[i * size + plane] = planes[at + i];
    return new Float64Array(bytes.buffer);
  }

  /** Return several columns by name; absent ones are null. */
  async readAll(columns) {
    const names = Object.keys(columns);
    const arrays = await Promise.all(names.map((name) => this.read(columns[name])));
    return Object.fromEntries(names.map((name, i) => [name, arrays[i]]));
  }
}

function constantColumn(value, length) {
  const small = Number.isInteger(value) && Math.abs(value) < 2 ** 31;
  return (small ? new Int32Array(length) : new Float64Array(length)).fill(value);
}

function joinWords(planes, length, differences) {
  const values = new Int32Array(length);
  const second = length, third = 2 * length, fourth = 3 * length;
  let before = 0;
  for (let i = 0; i < length; i++) {
    const value = planes[i] | (planes[second + i] << 8) | (planes[third + i] << 16) | (planes[fourth + i] << 24);
    values[i] = before = differences ? (before + value) | 0 : value;
  }
  return values;
}
