// For a job that even the empty machine cannot run: which single changes of its need would make it fit.

import type { GpuRequirement, Requirement } from "../../model/job.js";
import { withoutPool } from "../../model/resource.js";
import type { Shortage } from "../../model/shortage.js";
import { memoryWords } from "./memory-words.js";
import { emptied, type SlotQuestion, slotsWhenEmpty } from "./slots.js";
import { CPU_OVERLOAD_MILLI } from "./world.js";

/** Short words, each a change that is enough by itself: `at most 2 cards`. Empty: no single change is enough. */
export function nearestFit(asked: SlotQuestion): string[] {
  const fits = (change: Partial<Requirement>) =>
    slotsWhenEmpty({ ...asked, requirement: { ...asked.requirement, ...change } }).slots.length > 0;
  return [...hostChanges(asked), ...cardChanges(asked), ...resourceChanges(asked)].flatMap((changes) => {
    const nearest = changes.find(({ change }) => fits(change));
    return nearest === undefined ? [] : [nearest.words];
  });
}

/** A change of one need, the nearest first. */
type Changes = readonly { readonly change: Partial<Requirement>; readonly words: string }[];

function hostChanges(asked: SlotQuestion): Changes[] {
  const { memoryMb, cpus } = asked.requirement;
  const { shortages } = slotsWhenEmpty(asked);
  const found = <Kind extends Shortage["kind"]>(kind: Kind) =>
    shortages.filter((each): each is Extract<Shortage, { kind: Kind }> => each.kind === kind);
  return [
    // A card without memory of its own needs some of it, too.
    found("memory").map(({ neededMb, freeMb }) => {
      const most = Math.max(0, Math.floor(freeMb - (neededMb - memoryMb)));
      return { change: { memoryMb: most }, words: `at most ${memoryWords(most)} of memory` };
    }),
    found("cpus").map(({ free }) => {
      const most = Math.min(cpus, free + CPU_OVERLOAD_MILLI / 1000);
      return { change: { cpus: most }, words: `at most ${most} cores` };
    }),
  ];
}

function cardChanges({ capacity, requirement: { gpu } }: SlotQuestion): Changes[] {
  if (gpu === null) return [];
  const { gpus } = emptied(capacity);
  const withGpu = (change: Partial<GpuRequirement>, words: string) => ({
    change: { gpu: { ...gpu, ...change } },
    words,
  });
  const { model: _model, ...anyModel } = gpu;
  const { memoryTotalMb: total = 0 } = gpu;
  const sizes = descending(gpus.map((each) => each.memoryFreeMb));
  const names = [...new Set(gpus.map(({ name }) => name))];
  const counts = gpus.map((_, at) => gpus.length - at).filter((count) => count < gpu.count);
  return [
    sizes
      .filter((mb) => mb < gpu.memoryMb)
      .map((mb) => withGpu({ memoryMb: mb }, sizeWords(mb, sizes, "most memory of a card here is"))),
    counts.map((count) => withGpu({ count }, countWords(count))),
    gpu.model === undefined ? [] : [{ change: { gpu: anyModel }, words: `cards here: ${names.join(", ")}` }],
    sizes
      .filter((mb) => mb < total)
      .map((mb) => withGpu({ memoryTotalMb: mb }, sizeWords(mb, sizes, "the largest card here has"))),
  ];
}

/** A size that is not the largest one is the nearest only for a job of several cards. */
function sizeWords(mb: number, [largest]: readonly number[], ofLargest: string): string {
  return mb === largest ? `${ofLargest} ${memoryWords(mb)}` : `cards with ${memoryWords(mb)}`;
}

function countWords(cards: number): string {
  return cards === 1 ? "1 card" : `${cards} cards`;
}

function descending(numbers: readonly (number | null)[]): number[] {
  return [...new Set(numbers.filter((number) => number !== null))].toSorted((a, b) => b - a);
}

function resourceChanges({ spec, requirement: { resources = {} } }: SlotQuestion): Changes[] {
  return Object.entries(resources).map(([name, amounts]) => {
    const declared = spec.resources?.[name];
    if (declared === undefined) return otherResources(name, spec, resources);
    const capacities = Object.values(declared);
    const all = capacities.reduce((sum, capacity) => sum + capacity, 0);
    const nearest = [
      ...amounts.slice(0, -1).map((_, at) => amounts.slice(0, -1 - at)),
      [all],
      [Math.max(0, ...capacities)],
    ];
    return nearest
      .filter((each) => sumOf(each) < sumOf(amounts) && sumOf(each) > 0)
      .map((each) => ({
        change: { resources: { ...resources, [name]: each } },
        words: `${name}: ${each.join(" and ")}`,
      }));
  });
}

/** The machine may have it under another name. */
function otherResources(
  name: string,
  spec: SlotQuestion["spec"],
  { [name]: _, ...others }: NonNullable<Requirement["resources"]>,
): Changes {
  const names = [...new Set(Object.keys(spec.resources ?? {}).map(withoutPool))];
  return names.length === 0
    ? []
    : [{ change: { resources: others }, words: `resources here: ${names.join(", ")}` }];
}

function sumOf(amounts: readonly number[]): number {
  return amounts.reduce((sum, amount) => sum + amount, 0);
}
