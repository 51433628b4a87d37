// Reads the value of --capacity: `{gpu: 4, cpu: [16, 16], slot: {left: 1}}`, in JSON5, as in Grass.

import { UserError } from "../../errors.js";
import type { Capacities } from "../../model/queue.js";
import { isResourceAmount, isResourceName, MOST_AMOUNTS } from "../../model/resource.js";
import { readJson5, shownText, shownValue } from "../need/read-json5.js";

export interface AskedCapacity {
  readonly capacity: Capacities;
  /** Probable mistakes. */
  readonly notes: readonly string[];
}

const MOST_INSTANCES = 4096;
const INSTANCE_NAME = /^[A-Za-z0-9][\w.-]{0,31}$/;

/** Makes the error, of what follows the option's name. */
type Refuse = (what: string, hint?: string) => UserError;

/** `option`: what the text is the value of. Throws UserError. */
export function parseCapacity(text: string, option = "--capacity"): AskedCapacity {
  const [flag = ""] = option.split(" ");
  const refuse: Refuse = (what, hint = `for example ${exampleOf(flag)}`) =>
    new UserError(`${option} ${what}`, { hint });
  const value = readJson5(text, refuse);
  if (!isDictionary(value)) throw refuse(`takes names with amounts, got ${shownText(text)}`);
  const entries = Object.entries(value);
  if (entries.length === 0 || entries.length > MOST_AMOUNTS) throw refuse(`takes 1 to ${MOST_AMOUNTS} names`);
  const capacity = Object.fromEntries(
    entries.map(([name, each]) => [checkName(name, refuse), readInstances(name, each, refuse)]),
  );
  return { capacity, notes: entries.flatMap(([name, each]) => noteOf(name, each)) };
}

function exampleOf(flag: string): string {
  return flag === "--file" ? "{gpu: 4, cpu: 16} in that file" : `${flag} '{gpu: 4, cpu: 16}'`;
}

function checkName(name: string, refuse: Refuse): string {
  if (isResourceName(name)) return name;
  const rule = "a name has up to 32 letters, digits, - and _, and begins with a letter";
  throw refuse(`has the name ${shownText(name)}: ${rule}`);
}

function readInstances(name: string, value: unknown, refuse: Refuse): Readonly<Record<string, number>> {
  if (Array.isArray(value))
    return readAll(
      name,
      value.map((each, index) => [`${index}`, each] as const),
      refuse,
    );
  if (isDictionary(value)) return readAll(name, Object.entries(value), refuse);
  const count = numberOf(value);
  if (Number.isInteger(count) && count >= 1 && count <= MOST_INSTANCES)
    return Object.fromEntries(Array.from({ length: count }, (_, index) => [`${index}`, 1]));
  if (!isResourceAmount(count))
    throw refuse(
      `${name} is ${shownValue(value)}: it takes a number, a list of numbers, or names with numbers`,
    );
  const rule = `a number counts instances of 1, and is whole, from 1 to ${MOST_INSTANCES}`;
  throw refuse(`${name} is ${shownValue(value)}: ${rule}`, oneInstance(name, count));
}

function readAll(
  name: string,
  items: readonly (readonly [string, unknown])[],
  refuse: Refuse,
): Readonly<Record<string, number>> {
  if (items.length === 0 || items.length > MOST_INSTANCES)
    throw refuse(`${name} has ${items.length} instances: it takes 1 to ${MOST_INSTANCES}`);
  const odd = items.find(([instance]) => !INSTANCE_NAME.test(instance) || instance in Object.prototype);
  if (odd !== undefined) {
    const rule = "a name has up to 32 letters, digits, _, . and -, and begins with a letter or digit";
    throw refuse(`${name} has the instance ${shownText(odd[0])}: ${rule}`);
  }
  return Object.fromEntries(items.map(([instance, value]) => [instance, readAmount(name, value, refuse)]));
}

function readAmount(name: string, value: unknown, refuse: Refuse): number {
  const amount = numberOf(value);
  if (isResourceAmount(amount)) return amount;
  const rule = "an amount is a number above 0, at most 999999, with up to three decimals";
  throw refuse(`${name} has ${shownValue(value)}: ${rule}`);
}

/** Numbers may be text. */
function numberOf(value: unknown): number {
  if (typeof value === "number") return value;
  return typeof value === "string" && /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
}

/** `{RAM: 512}` is 512 instances of 1, none of which fits a job that needs 2. */
function noteOf(name: string, value: unknown): string[] {
  const count = numberOf(value);
  if (!(count > MOST_AMOUNTS)) return [];
  return [`${name}: ${count} means ${count} instances of 1; ${oneInstance(name, count)}`];
}

function oneInstance(name: string, amount: number): string {
  return `one instance that has ${amount} is {${name}: [${amount}]}`;
}

function isDictionary(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
