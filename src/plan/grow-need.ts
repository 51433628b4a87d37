// The larger need of a job that ran out of memory: more memory, or more of a card, as far as a machine can ever give it. Pure.

import type { Placing } from "../model/batch.js";
import type { Footprint } from "../model/footprint.js";
import { failureOf, type GpuRequirement, kindOf, type Outcome, type Requirement } from "../model/job.js";
import type { GrownNeed } from "../model/job-event.js";
import type { Capacity, MachineSpec } from "../model/machine.js";
import { planSlots, type SlotQuestion, slotsWhenEmpty } from "./slots/slots.js";

export interface Outgrown {
  readonly requirement: Requirement;
  readonly outcome: Outcome;
  /** What it used until then; undefined: unknown. */
  readonly footprint: Footprint | undefined;
  /** Where it ran. */
  readonly machine: string;
}

export interface Offer {
  readonly spec: MachineSpec;
  readonly capacity: Capacity;
}

const TIMES = 2;
/** The peak was measured before the job got what it asked for last. */
const PEAK_TIMES = 1.5;
const CLEARLY_MORE = 1.25;
/** Even an idle machine or card uses a part of its memory itself. */
const USABLE = 0.9;

/** `offers`: the machines that may get jobs, as they were measured. */
export function growNeed(outgrown: Outgrown, offers: readonly Offer[], placing?: Placing): GrownNeed {
  const fits: Fits = (requirement, plan = slotsWhenEmpty) =>
    offers.filter((offer) => plan(questionFor(offer, requirement, placing)).slots.length > 0);
  const grown = isOfCard(outgrown) ? growCards(outgrown, offers, fits) : growMemory(outgrown, offers, fits);
  if (typeof grown === "string") return { requirement: null, reason: grown };
  const places = fits(grown);
  if (kindOf(grown) === kindOf(outgrown.requirement) || places.length === 0)
    return { requirement: null, reason: `no machine can give it more ${memoryName(outgrown)}` };
  return { requirement: grown, prefers: roomiest(places, outgrown) };
}

/** The machines that could have such a job if nothing else used them; with `planSlots`: as they were measured. */
type Fits = (requirement: Requirement, plan?: typeof planSlots) => readonly Offer[];

function questionFor({ spec, capacity }: Offer, requirement: Requirement, placing?: Placing): SlotQuestion {
  return { spec: { ...spec, mostSlots: 1 }, capacity, placing, requirement };
}

function isOfCard({ outcome }: Outgrown): boolean {
  return failureOf(outcome) === "gpu-out-of-memory";
}

function memoryName(outgrown: Outgrown): string {
  return isOfCard(outgrown) ? "GPU memory" : "memory";
}

/** A job that declared no memory gets half of the machine, if its use is unknown. */
function growMemory(outgrown: Outgrown, offers: readonly Offer[], fits: Fits): Requirement {
  const { requirement, footprint } = outgrown;
  const wanted = Math.max(requirement.memoryMb * TIMES, (footprint?.memoryMb ?? 0) * PEAK_TIMES);
  const total = offerOf(outgrown, offers)?.capacity.memory?.totalMb ?? 0;
  const withMemory = (memoryMb: number): Requirement => ({ ...requirement, memoryMb });
  const [asked, least] = [wanted || total / 2, requirement.memoryMb];
  const soon = mostThatFits(asked, least, (mb) => fits(withMemory(mb), planSlots).length > 0);
  // What was free when the machines were measured can start soon. If that is hardly more, the job waits for more.
  if (soon > least && soon >= Math.min(asked, least * CLEARLY_MORE)) return withMemory(soon);
  return withMemory(mostThatFits(asked, least, (mb) => fits(withMemory(mb)).length > 0));
}

/** It gets its cards alone. If it had them alone, other people's processes took the memory: then it gets free ones. */
function growCards(outgrown: Outgrown, offers: readonly Offer[], fits: Fits): Requirement | string {
  const { requirement, footprint } = outgrown;
  const { gpu } = requirement;
  if (gpu === null) return "it asked for no GPU";
  const alone = { ...gpu, count: Math.ceil(gpu.count), isReserved: true };
  const wasAlone = gpu.isReserved && gpu.count === alone.count;
  const whole = wasAlone ? largestCard(offerOf(outgrown, offers)) * USABLE : 0;
  const wanted = Math.max(gpu.memoryMb * TIMES, (footprint?.gpuMemoryMb ?? 0) * PEAK_TIMES, whole);
  const withMemory = (card: GpuRequirement, memoryMb: number) => ({
    ...requirement,
    gpu: { ...card, memoryMb },
  });
  const most = (card: GpuRequirement) =>
    withMemory(
      card,
      mostThatFits(wanted, gpu.memoryMb, (mb) => fits(withMemory(card, mb)).length > 0),
    );
  return fits(withMemory(alone, gpu.memoryMb)).length > 0 ? most(alone) : most(gpu);
}

/** In whole MB, not less than `least`, which fits. */
function mostThatFits(wanted: number, least: number, isServed: (mb: number) => boolean): number {
  const asked = Math.ceil(wanted / USABLE);
  if (isServed(asked)) return Math.max(least, Math.ceil(wanted));
  let [low, high] = [Math.floor(least), asked];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isServed(middle)) low = middle;
    else high = middle;
  }
  return Math.max(least, Math.floor(low * USABLE));
}

function offerOf({ machine }: Outgrown, offers: readonly Offer[]): Offer | undefined {
  return offers.find(({ spec }) => spec.name === machine);
}

function largestCard(offer: Offer | undefined): number {
  return Math.max(0, ...(offer?.capacity.gpus ?? []).map(({ memoryTotalMb }) => memoryTotalMb ?? 0));
}

/** As it was measured when the batch began. Of equal ones, another machine than the one where the memory was short. */
function roomiest(places: readonly Offer[], outgrown: Outgrown): string | null {
  const freeOn = ({ capacity: { memory, gpus } }: Offer) =>
    isOfCard(outgrown)
      ? Math.max(0, ...gpus.map(({ memoryFreeMb }) => memoryFreeMb ?? 0))
      : (memory?.freeMb ?? 0);
  const order = ({ spec }: Offer) => (spec.name === outgrown.machine ? 1 : 0);
  const [best] = places.toSorted((one, other) => freeOn(other) - freeOn(one) || order(one) - order(other));
  return best?.spec.name ?? null;
}
