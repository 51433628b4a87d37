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

const EXAMPLE = "for example --require '{licence: 1, nvme: 0.5}'";

/** The names of what other options ask for as well. */
const MEASURED: Readonly<Record<string, "cpus" | "memoryMb" | "gpuCount">> = {
  cpu: "cpus",
  cpus: "cpus",
  memory: "memoryMb",
  gpu: "gpuCount",
};

/** Throws UserError. */
export function parseNeed(text: string): AskedNeed {
  const value = readJson5(text, refusal);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw refusal(`takes names with amounts, got ${shownText(text)}`);
  const entries = Object.entries(value);
  if (entries.length > MOST_AMOUNTS) throw refusal(`takes at most ${MOST_AMOUNTS} names`);
  const measured: { cpus?: number; memoryMb?: number; gpuCount?: number } = {};
  const resources: Record<string, readonly number[]> = {};
  for (const [name, amount] of entries) {
    const key = Object.hasOwn(MEASURED, name) ? MEASURED[name] : undefined;
    if (key === undefined) resources[checkName(name)] = readAmounts(name, amount);
    else if (measured[key] !== undefined) throw refusal("has cpu and cpus, which mean the same", "keep one");
    else measured[key] = key === "gpuCount" ? readCards(amount) : readAmount(name, amount);
  }
  return { ...measured, resources };
}

function checkName(name: string): string {
  if (isResourceName(name)) return name;
  const rule = "a name has up to 32 letters, digits, - and _, and begins with a letter";
  throw refusal(`has the name ${shownText(name)}: ${rule}`);
}

function readAmounts(name: string, value: unknown): number[] {
  const amounts: unknown[] = Array.isArray(value) ? value : [value];
  if (amounts.length === 0 || amounts.length > MOST_AMOUNTS)
    throw refusal(`${name} takes a number, or a list of 1 to ${MOST_AMOUNTS} numbers`);
  return amounts.map((amount) => readAmount(name, amount));
}

function readAmount(name: string, amount: unknown): number {
  if (isResourceAmount(amount)) return amount;
  const rule = "an amount is a number above 0, at most 999999, with up to three decimals";
  throw refusal(`${name} is ${shownValue(amount)}: ${rule}`);
}

/** `[1, 1, 0.5]` is 2.5. Parts of several cards would be another need, which no option can express. */
function readCards(value: unknown): number {
  const amounts = readAmounts("gpu", value);
  const [last = 1, ...whole] = amounts.toReversed();
  if (amounts.length === 1) return last;
  if (whole.some((amount) => amount !== 1) || last > 1)
    throw refusal(
      `gpu is [${amounts.join(", ")}]: a job gets whole cards, and a part of at most one more`,
      "for example gpu: 2.5",
    );
  return Math.round((whole.length + last) * 1000) / 1000;
}

function refusal(what: string, hint: string = EXAMPLE): UserError {
  return new UserError(`--require ${what}`, { hint });
}
