// Compares what jobs need by their options with what they used, and names a smaller need if clearly more would then run. Pure.

import type { TrackedJob } from "../model/batch-state.js";
import type { Footprint, NeedAdvice } from "../model/footprint.js";
import { kindOf, type Requirement, succeeded } from "../model/job.js";
import type { Capacity, MachineSpec } from "../model/machine.js";
import { attemptsOf } from "../model/standing.js";
import { planSlots } from "./slots/slots.js";

interface Needs {
  readonly jobs: readonly TrackedJob[];
  /** The requirement of the batch. */
  readonly requirement: Requirement;
  /** As they were measured before the first job. */
  readonly machines: readonly { readonly spec: MachineSpec; readonly capacity: Capacity }[];
}

/** Less is not worth a line. */
const LEAST_TIMES = 1.5;
/** Another run may need a little more. */
const MARGIN = 1.08;
const LEAST_MB = 100;

/** Empty if jobs have different needs: the same number would not fit all of them. */
export function adviseNeeds({ jobs, requirement: common, machines }: Needs): NeedAdvice[] {
  const [first, ...others] = new Map(
    jobs.map(({ job }) => [kindOf(job.requirement), job.requirement]),
  ).values();
  const requirement = first ?? common;
  if (others.length > 0 || !hasMeasuredSuccess(jobs)) return [];
  const count = (need: Requirement) =>
    machines.reduce((sum, machine) => sum + planSlots({ ...machine, requirement: need }).slots.length, 0);
  const now = count(requirement);
  const compare = (what: NeedAdvice["what"], neededMb: number, peakMb: number): NeedAdvice[] => {
    const enoughMb = roundAbove(peakMb);
    const then = Math.min(count(withNeed(requirement, what, enoughMb)), jobs.length);
    if (peakMb === 0 || enoughMb >= neededMb || now === 0 || then / now < LEAST_TIMES) return [];
    return [{ what, neededMb, peakMb, enoughMb, times: Math.floor((then / now) * 10) / 10 }];
  };
  return [
    ...compare("memory", requirement.memoryMb, peakOf(jobs, "memoryMb")),
    ...(requirement.gpu === null
      ? []
      : compare("gpu-memory", requirement.gpu.memoryMb, peakOf(jobs, "gpuMemoryMb"))),
  ];
}

/** A job that fails may end before it uses what it needs. */
function hasMeasuredSuccess(jobs: readonly TrackedJob[]): boolean {
  return jobs.some((tracked) =>
    attemptsOf(tracked).some(({ stage }) => "footprint" in stage && succeeded(stage.outcome)),
  );
}

/** 0: of no job. */
function peakOf(jobs: readonly TrackedJob[], of: keyof Footprint): number {
  let peak = 0;
  for (const tracked of jobs)
    for (const { stage } of attemptsOf(tracked))
      peak = Math.max(peak, ("footprint" in stage && stage.footprint?.[of]) || 0);
  return peak;
}

function withNeed(requirement: Requirement, what: NeedAdvice["what"], mb: number): Requirement {
  if (what === "memory") return { ...requirement, memoryMb: mb };
  return { ...requirement, gpu: requirement.gpu && { ...requirement.gpu, memoryMb: mb } };
}

/** The next number of two digits and zeros: 2000 for 1830. */
function roundAbove(mb: number): number {
  const wanted = Math.max(LEAST_MB, mb * MARGIN);
  const step = 10 ** (Math.floor(Math.log10(wanted)) - 1);
  return Math.ceil(wanted / step) * step;
}
