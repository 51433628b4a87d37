// Chooses instances of named resources.

import type { Shortage } from "../../model/shortage.js";
import { type Instance, type Question, sum, type Want } from "./question.js";
import type { World } from "./world.js";

export interface Got {
  /** Its place among the instances of the question. */
  readonly at: number;
  readonly name: string;
  readonly instance: string;
  readonly milli: number;
}

export interface ResourceChoice {
  readonly gots: readonly Got[];
  readonly shortages: readonly Shortage[];
}

export function chooseInstances(
  { instances }: Question,
  wants: readonly Want[],
  { left }: World,
): ResourceChoice {
  const gots: Got[] = [];
  const shortages: Shortage[] = [];
  for (const want of wants) {
    const own = instances.flatMap((each, at) =>
      each.name === want.name ? [{ ...each, at, left: Math.max(0, left[at] ?? 0) }] : [],
    );
    const got = get(want, own, left);
    if (got === null) shortages.push(shortageOf(want, own));
    else gots.push(...got);
  }
  return { gots, shortages };
}

interface Available extends Instance {
  readonly at: number;
  readonly left: number;
}

/** Each amount comes from another instance: the fullest one that has it. Larger jobs need the emptier ones. */
function get(want: Want, own: readonly Available[], left: readonly number[]): Got[] | null {
  const amounts = amountsOf(want, own);
  if (amounts === null) return null;
  const gots: Got[] = [];
  for (const milli of amounts) {
    const [best] = own
      .filter((each) => each.left >= milli && !gots.some(({ at }) => at === each.at))
      .toSorted((a, b) => (left[a.at] ?? 0) - (left[b.at] ?? 0));
    if (best === undefined) return null;
    gots.push({ at: best.at, name: best.name, instance: best.instance, milli });
  }
  return gots;
}

/** One amount larger than every instance means several whole ones, and then a part. Null: no number of them is enough. */
function amountsOf({ amounts }: Want, own: readonly Available[]): readonly number[] | null {
  const [first = 0] = amounts;
  if (amounts.length > 1 || first <= largestOf(own)) return amounts;
  const whole = Math.floor(first / 1000);
  const rest = first % 1000;
  if (own.some(({ capacityMilli }) => capacityMilli !== 1000) || own.length < whole) return null;
  return [...Array<number>(whole).fill(1000), ...(rest > 0 ? [rest] : [])];
}

function largestOf(own: readonly Available[]): number {
  return Math.max(0, ...own.map(({ capacityMilli }) => capacityMilli));
}

/** For one amount, the most that one instance has free. For several, all that is free. */
function shortageOf({ name, amounts }: Want, own: readonly Available[]): Shortage {
  const needed = sum(amounts);
  const left = own.map((each) => each.left);
  const free = amounts.length > 1 || needed > largestOf(own) ? sum(left) : Math.max(0, ...left);
  const absent = own.length === 0 && ({ isDeclared: false } as const);
  return { kind: "resource", name, needed: needed / 1000, free: free / 1000, ...absent };
}
