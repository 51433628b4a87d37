// Explains why a machine has no room for one more of these jobs, and which option to change.

import { isSuitable } from "../../model/card-choice.js";
import type { GpuRequirement, Requirement } from "../../model/job.js";
import type { Capacity, Gpu } from "../../model/machine.js";
import { withoutPool } from "../../model/resource.js";
import type { CardRefusal, RefusedCard, Shortage } from "../../model/shortage.js";
import { MOST_USE_MILLI } from "./cards.js";
import type { SlotPlan } from "./slots.js";
import { CPU_OVERLOAD_MILLI } from "./world.js";

const ROUNDING = 1e-6;

export interface Explained {
  readonly capacity: Capacity;
  readonly requirement: Requirement;
  readonly plan: SlotPlan;
  /** The shortages are those of the empty machine. */
  readonly isNever?: boolean;
}

/** One line per limit that is reached, after the machine's name: `a.yaml: memory: a job needs …`. */
export function explain(machine: string, explained: Explained): string[] {
  return explainShortages(explained).map((line) => `${machine}: ${line}`);
}

export function explainShortages(explained: Explained): string[] {
  return explained.plan.shortages.flatMap((shortage) => explainShortage(shortage, explained));
}

function explainShortage(
  shortage: Shortage,
  { capacity, requirement, isNever = false }: Explained,
): string[] {
  switch (shortage.kind) {
    case "memory":
      return [`memory: ${memoryWords(shortage)} (${memoryHint(shortage.neededMb, requirement)})`];
    case "memory-unknown":
      return ["memory: cannot read how much is free, so the machine gets no job"];
    case "cpus":
      return [cpuWords(shortage.needed, shortage.free)];
    case "cpus-unknown":
      return ["cores: cannot read how many are free, so the machine gets no job"];
    case "gpus":
      return explainCards(shortage, capacity, requirement.gpu);
    case "no-such-gpu":
      return [
        `GPU ${shortage.absent.join(", ")}: no such card, there are ${shortage.there.join(", ")} (--gpus)`,
      ];
    case "all-listed":
      return [`--gpus lists ${shortage.count}`];
    case "resource":
      return [
        `${withoutPool(shortage.name)}: a job needs ${shortage.needed}, ${resourceWords(shortage, isNever)}`,
      ];
    case "max-jobs":
      return [`its machine file has max_jobs: ${shortage.maxJobs}${claimedWords(shortage.claimed)}`];
    case "machine-claimed":
      return [`the whole machine is reserved by ${batchWords(shortage)}`];
    case "machine-in-use":
      return [`--reserve needs the whole machine, but ${batchWords(shortage)} has jobs on it`];
    case "machine-held":
      return [`the machine is used by ${batchWords(shortage)}`];
    case "machine-reserved":
      return ["one job has the whole machine (--reserve)"];
    case "kept":
      return [`job ${shortage.key} comes first`];
    case "hindered":
      return [`the machine cannot decide whether a job may start (${shortage.by})`];
    case "too-many":
      return [`a machine runs at most ${shortage.limit} jobs at a time`];
    default:
      return shortage satisfies never;
  }
}

function resourceWords(
  { free, isDeclared }: { readonly free: number; readonly isDeclared?: false },
  isNever: boolean,
): string {
  if (isDeclared === false) return "the machine file declares none (resources:)";
  return isNever ? `the machine has ${free}` : `${free} free`;
}

/** Names the account only if it is another one. */
function batchWords({ owner = "", batch }: { readonly owner?: string; readonly batch: string }): string {
  return owner === "" ? `the batch ${batch}` : `the batch ${batch} of ${owner}`;
}

function claimedWords(claimed: number): string {
  return claimed === 0 ? "" : `, and other batches use ${claimed}`;
}

function memoryWords({ neededMb, freeMb }: { neededMb: number; freeMb: number }): string {
  const free = Math.max(0, Math.floor(freeMb));
  return `a job needs ${neededMb} MB, ${free} MB are free: ${neededMb - free} MB short`;
}

function memoryHint(neededMb: number, { memoryMb, gpu }: Requirement): string {
  const hint = `lower --memory-required, now ${memoryMb}`;
  if (neededMb === memoryMb || gpu === null) return hint;
  return `${hint}, or --gpu-memory-required, now ${gpu.memoryMb}: its GPU uses the machine's memory`;
}

function cpuWords(needed: number, free: number): string {
  // Rounds down, so that the printed room never looks large enough.
  const room = Math.floor(Math.max(0, free + CPU_OVERLOAD_MILLI / 1000) * 10 + ROUNDING) / 10;
  return `cores: one more job needs ${needed}, there is room for ${room} (lower --num-cpus, now ${needed})`;
}

type CardShortage = Extract<Shortage, { kind: "gpus" }>;

function explainCards(
  { needed, available, refused }: CardShortage,
  { gpus, gpuProblem }: Capacity,
  need: GpuRequirement | null,
): string[] {
  const problem = gpuProblem === null ? "" : `: ${gpuProblem}`;
  if (gpus.length === 0) {
    const wanted = needed === 1 ? "a job needs one" : `a job needs ${needed}`;
    return [`GPU: ${wanted}, none was found${problem} (jobs that use no GPU: --no-gpu-required)`];
  }
  const lines = groupCards(refused).map(([indices, words]) => `GPU ${indices.join(", ")}: ${words}`);
  if (need !== null) lines.push(...explainUnsuitable(need, gpus));
  if (needed > 1)
    lines.unshift(`GPU: a job needs ${needed}, suitable: ${available} (lower --gpus-per-job, now ${needed})`);
  return gpuProblem === null ? lines : [...lines, `GPU: ${gpuProblem}`];
}

/** Cards that no job of this kind can have, whatever is free on them. */
function explainUnsuitable(need: GpuRequirement, gpus: readonly Gpu[]): string[] {
  const { model, memoryTotalMb, listed } = need;
  const unsuitable = gpus.filter((gpu) => !isSuitable(gpu, need));
  if (unsuitable.length === 0 || listed !== undefined) return [];
  const indices = [...new Set(unsuitable.map(({ index }) => index))].join(", ");
  const wanted = [
    ...(model === undefined ? [] : [`of another model (--gpu-model, now ${model})`]),
    ...(memoryTotalMb === undefined ? [] : [`too small (--gpu-memory-total, now ${memoryTotalMb})`]),
  ];
  return [`GPU ${indices}: ${wanted.join(", or ")}`];
}

/** Cards with the same reason share one line. */
function groupCards(refused: readonly RefusedCard[]): [number[], string][] {
  const groups = new Map<string, number[]>();
  for (const { gpu, why } of refused) {
    const words = explainRefusal(why);
    groups.set(words, [...new Set([...(groups.get(words) ?? []), gpu.index])]);
  }
  return [...groups].map(([words, indices]) => [indices, words]);
}

function explainRefusal(why: CardRefusal): string {
  switch (why.kind) {
    case "unusable":
      return why.reason === "" ? "not used: it does not work" : `not used: it ${why.reason}`;
    case "not-allowed":
      return "left out by gpus or exclude_gpus in its machine file";
    case "kept-free":
      return "kept free for people (keep_free in its machine file, or --polite)";
    case "memory-unknown":
      return "its free memory cannot be read, so it gets no job";
    case "memory":
      return `memory: ${memoryWords(why)} (lower --gpu-memory-required, now ${why.neededMb})`;
    case "utilization":
      return utilizationWords(why.used, why.needed);
    case "taken":
      return why.batch === null
        ? "one job at a time (--no-reserve-gpu lets several share it)"
        : `taken by ${batchWords({ ...why, batch: why.batch })}`;
    case "amount":
      return `a job needs ${why.needed} of a card, ${why.free} is free (lower --gpus-per-job, now ${why.needed})`;
    case "other-person":
      return "another person uses it, or may use it (--polite)";
    case "all-listed":
      return "jobs of this batch have it, as often as --gpus lists it";
    case "exclusive-in-use":
      return "only one process may hold it (Exclusive_Process), and another process may hold it";
    case "slice":
      return "a MIG slice: a job can use only one";
    default:
      return why satisfies never;
  }
}

function utilizationWords(used: number, needed: number): string {
  const [usedPercent, neededPercent, most] = [used, needed, MOST_USE_MILLI / 1000].map((share) =>
    Math.round(share * 100),
  );
  return `${usedPercent} % in use, a job uses about ${neededPercent} %, the limit is ${most} % (lower --gpu-utilization, now ${needed})`;
}
