// What the rows of the machine can be: processors, nodes, or GPUs.

import { countUpTo } from "./order.js";
import { Pieces } from "./pieces.js";

/** By what the reader chooses: the unit, how many rows, their names, and the rows at which nodes begin (and the end). */
export function axesOf({ lanes, unit, perNode, nodes }) {
  const axes = { processor: { unit, lanes } };
  if (nodes) {
    const { names, cores, gpus } = nodes;
    axes.processor.starts = running(cores);
    axes.node = { unit: "node", lanes: names.length, names, starts: names.map((_, node) => node).concat(names.length) };
    const several = (node) => gpus[node] > 1, all = gpus.reduce((sum, each) => sum + each, 0);
    const gpuNames = names.flatMap((name, node) => Array.from({ length: gpus[node] }, (_, gpu) => (several(node) ? `${name}:${gpu}` : name)));
    if (all) axes.GPU = { unit: "GPU", lanes: all, names: gpuNames, starts: running(gpus) };
  } else if (perNode > 1) axes.node = { unit: "node", lanes: Math.ceil(lanes / perNode) };
  return axes;
}

/** Running totals, from 0 on: one more than values. */
export function running(values) {
  const sums = [0];
  for (const value of values) sums.push(sums.at(-1) + value);
  return sums;
}

/** Bring rectangles from rows of processors to rows of nodes: of each row, the share of the node that the job holds. */
export function toNodes({ start, end, low, high, job, apart, jobs }, { nodes, perNode }) {
  const starts = nodes && Float64Array.from(running(nodes.cores));
  const place = starts ? (lane) => {
    const node = Math.min(countUpTo(starts, lane) - 1, nodes.cores.length - 1);
    return node + (lane - starts[node]) / nodes.cores[node];
  } : (lane) => lane / perNode;
  return new Pieces(start, end, Float64Array.from(low, place), Float64Array.from(high, place), job, apart, jobs);
}
