// Reads the value of --require: `{licence: 1, nvme: 0.5, gpu: 2.5}`, in JSON5.

import { UserError } from "../../errors.js";
import { isResourceAmount, isResourceName, MOST_AMOUNTS } from "../../model/resource.js";
import { readJson5, shownText, shownValue } from "./read-json5.js";

export interface AskedNeed {
  /** Absent, here and below: not asked for. */
  readonly cpus?: number;
  readonly memoryMb?: number;
  readonly gpuCount?: number;
  /** Named resources, without those above. */
  readonly resources: Readonly<Record<string, readonly number[]>>;
}

/** The names of what other options ask for as well. */
const MEASURED: Readonly<Record<string, "cpus" | "memoryMb" | "gpuCount">> = {
  cpu: "cpus",
  cpus: "cpus",
  memory: "memoryMb",
  gpu: "gpuCount",
};

/** Makes the error, of what follows the option's name. */
type Refuse = (what: string, hint?: string) => UserError;

/** `flag`: the option that has this value. Throws UserError. */
export function parseNeed(text: string, flag = "--require"): AskedNeed {
  const refuse: Refuse = (what, hint = `for example ${flag} '{licence: 1, nvme: 0.5}'`) =>
    new UserError(`${flag} ${what}`, { hint });
  const value = readJson5(text, refuse);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw refuse(`takes names with amounts, got ${shownText(text)}`);
  const entries = Object.entries(value);
  if (entries.length > MOST_AMOUNTS) throw refuse(`takes at most ${MOST_AMOUNTS} names`);
  const measured: { cpus?: number; memoryMb?: number; gpuCount?: number } = {};
  const resources: Record<string, readonly number[]> = {};
  for (const [name, amount] of entries) {
    const key = Object.hasOwn(MEASURED, name) ? MEASURED[name] : undefined;
    if (key === undefined) resources[checkName(name, refuse)] = readAmounts(name, amount, refuse);
    else if (measured[key] !== undefined) throw refuse("has cpu and cpus, which mean the same", "keep one");
    else measured[key] = key === "gpuCount" ? readCards(amount, refuse) : readAmount(name, amount, refuse);
  }
  return { ...measured, resources };
}

function checkName(name: string, refuse: Refuse): string {
  if (isResourceName(name)) return name;
  const rule = "a name has up to 32 letters, digits, - and _, and begins with a letter";
  throw refuse(`has the name ${shownText(name)}: ${rule}`);
}

function readAmounts(name: string, value: unknown, refuse: Refuse): number[] {
  const amounts: unknown[] = Array.isArray(value) ? value : [value];
  if (amounts.length === 0 || amounts.length > MOST_AMOUNTS)
    throw refuse(`${name} takes a number, or a list of 1 to ${MOST_AMOUNTS} numbers`);
  return amounts.map((amount) => readAmount(name, amount, refuse));
}

function readAmount(name: string, amount: unknown, refuse: Refuse): number {
  if (isResourceAmount(amount)) return amount;
  const rule = "an amount is a number above 0, at most 999999, with up to three decimals";
  throw refuse(`${name} is ${shownValue(amount)}: ${rule}`);
}

/** `[1, 1, 0.5]` is 2.5. Parts of several cards would be another need, which no option can express. */
function readCards(value: unknown, refuse: Refuse): number {
  const amounts = readAmounts("gpu", value, refuse);
  const [last = 1, ...whole] = amounts.toReversed();
  if (amounts.length === 1) return last;
  if (whole.some((amount) => amount !== 1) || last > 1)
    throw refuse(
      `gpu is [${amounts.join(", ")}]: a job gets whole cards, and a part of at most one more`,
      "for example gpu: 2.5",
    );
  return Math.round((whole.length + last) * 1000) / 1000;
}
