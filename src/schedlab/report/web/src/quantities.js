// Quantities over time: what they are called, and how they are made of a schedule.

import { sortedRows } from "./order.js";
import { idleWhileWaiting, Level, partlyUsed, Ramp, runningUsers, stranded, unfitting } from "./steps.js";

/** Key, title and unit of the quantities that a model has. */
export function quantitiesOf(model) {
  const { nodes, axes, columns } = model, several = nodes || axes.GPU;
  return [
    ["queue_length", "Queue length", "jobs"],
    ["work_waiting", "Work waiting", "time"],
    ["utilisation", several ? `Utilisation of ${model.unit}s` : "Utilisation", "share"],
    axes.GPU && ["utilisation_gpus", "Utilisation of GPUs", "share"],
    nodes?.memory && ["utilisation_memory", "Utilisation of memory", "share"],
    nodes && ["utilisation_nodes", "Utilisation of nodes", "share"],
    ["idle_while_waiting", "Idle while jobs wait", "share"],
    // On nodes, jobs wait while much is free in parts of nodes: the sum of all processors would say that nothing is lost.
    !nodes && ["fragmentation", axes.GPU ? `Fragmentation of ${model.unit}s` : "Fragmentation", "share"],
    axes.GPU && ["fragmentation_gpus", "Fragmentation of GPUs", "share"],
    axes.GPU && ["stranded_gpus", "GPUs without a free processor", "share"],
    nodes && ["partly_used", "Free in partly used nodes", "share"],
    columns.user && ["running_users", "Running users", "users"],
  ].filter(Boolean);
}

/** Return a quantity of a schedule by its key, as a step function. */
export function makeSeries(decisions, key) {
  const { model, queued, start } = decisions, { processors } = model.columns;
  if (key === "queue_length")
    return new Level(new Ramp(queued, decisions.queueOrder), new Ramp(start, decisions.startOrder));
  if (key === "work_waiting") {
    const work = new Float64Array(model.count).map((_, job) => processors[job] * decisions.runTime(job));
    // Seconds for which the whole machine would be busy.
    return new Level(new Ramp(queued, decisions.queueOrder, work), new Ramp(start, decisions.startOrder, work), 1 / model.size);
  }
  if (key === "utilisation") {
    const { job } = decisions.spans;
    return inUse(decisions, job ? new Int32Array(job.length).map((_, i) => processors[job[i]]) : processors, model.size);
  }
  if (key === "utilisation_gpus") return inUse(decisions, heldGpus(decisions.placedGpus), model.axes.GPU.lanes * model.gpuParts);
  if (key === "utilisation_memory") return inUse(decisions, decisions.memory, model.nodes.memory);
  if (key === "stranded_gpus")
    return stranded(decisions.machinePieces("processor"), model.nodes.cores, decisions.machinePieces("GPU"), model.nodes.gpus);
  if (key === "utilisation_nodes" || key === "partly_used") {
    const { used, partly } = partlyUsed(decisions.machinePieces("processor"), model.nodes.cores);
    return key === "partly_used" ? partly : used;
  }
  if (key === "idle_while_waiting")
    return idleWhileWaiting(decisions.series("queue_length"), decisions.series("utilisation"), model.size);
  if (key === "fragmentation") return unfitting(decisions, processors, decisions.series("utilisation"), model.size);
  if (key === "fragmentation_gpus")
    return unfitting(decisions, decisions.neededGpus, decisions.series("utilisation_gpus"), model.axes.GPU.lanes * model.gpuParts);
  return runningUsers(decisions, model.columns.user);
}

/** What runs hold of a resource, as a share of all of it. */
function inUse(decisions, held, all) {
  const { job, start, end } = decisions.spans;
  const ends = job ? sortedRows(end) : decisions.endOrder;
  return new Level(new Ramp(start, decisions.spanOrder, held), new Ramp(end, ends, held), 1 / all);
}

/** GPUs (or their parts, where jobs share them) that each job held in its last run: what it asked for, as far as a schedule tells. */
export function neededGpus({ model, placedGpus, spans: { job } }) {
  const held = heldGpus(placedGpus);
  if (!job) return held;
  const needed = new Int32Array(model.count);
  for (let span = 0; span < held.length; span++) needed[job[span]] = held[span];
  return needed;
}

function heldGpus({ count, width }) {
  const held = new Int32Array(count.length);
  for (let span = 0, piece = 0; span < held.length; span++)
    for (const stop = piece + count[span]; piece < stop; piece++) held[span] += width[piece];
  return held;
}
