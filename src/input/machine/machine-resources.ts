// Reads `resources:` of a machine file: what a machine has besides cores, memory and cards.

import type { MachineSpec } from "../../model/machine.js";
import { isResourceAmount, isResourceName, MOST_AMOUNTS } from "../../model/resource.js";
import type { Mistake } from "../mistake.js";
import { type Field, readFields, refuse } from "../yaml/yaml-fields.js";
import type { Value } from "../yaml/yaml-tree.js";

type Instances = Readonly<Record<string, number>>;

/** These are measured. Other keys of the file limit them. */
const MEASURED: Readonly<Record<string, string>> = {
  gpu: "gpus: and exclude_gpus: choose cards",
  cpu: "keep_free: has cpus:",
  cpus: "keep_free: has cpus:",
  memory: "keep_free: has memory:",
};

export function readResources({ label, value }: Field, mistakes: Mistake[]): MachineSpec["resources"] | null {
  if (value.kind !== "map")
    return refuse(value, `${label} must hold lines of the form name: amount`, mistakes);
  const fields = readFields(value, { known: null, parent: label }, mistakes);
  if (fields.size > MOST_AMOUNTS)
    mistakes.push({ offset: value.offset, message: `${label} has more than ${MOST_AMOUNTS} names` });
  for (const { key } of value.entries) if (key.kind === "text") checkName(key.text, key.offset, mistakes);
  return Object.fromEntries([...fields].map(([name, field]) => [name, readInstances(name, field, mistakes)]));
}

function checkName(name: string, offset: number, mistakes: Mistake[]): void {
  if (Object.hasOwn(MEASURED, name)) {
    mistakes.push({
      offset,
      message: `${name} is measured, and cannot be declared`,
      hint: MEASURED[name] ?? "",
    });
  } else if (!isResourceName(name)) {
    const message = `the name of a resource has up to 32 letters, digits, - and _, and begins with a letter`;
    mistakes.push({ offset, message: `${message}, got ${JSON.stringify(name)}` });
  }
}

/** A number of equal instances; a list of their amounts; or amounts by name. */
function readInstances(name: string, field: Field, mistakes: Mistake[]): Instances {
  const { label, value } = field;
  switch (value.kind) {
    case "list":
      return readAll(
        label,
        value.items.map((item, index) => [`${index}`, item]),
        value,
        mistakes,
      );
    case "map":
      return readAll(label, namedItems(label, value, mistakes), value, mistakes);
    default:
      return readCount(name, field, mistakes);
  }
}

function namedItems(label: string, map: Value & { kind: "map" }, mistakes: Mistake[]): [string, Value][] {
  const fields = readFields(map, { known: null, parent: label }, mistakes);
  for (const { key } of map.entries)
    if (key.kind === "text" && !/^[A-Za-z0-9][\w.-]{0,31}$/.test(key.text))
      refuse(
        key,
        `a name in ${label} has up to 32 letters, digits, _, . and -, and begins with a letter or digit`,
        mistakes,
      );
  return [...fields].map(([name, { value }]) => [name, value]);
}

function readAll(
  label: string,
  items: readonly [string, Value][],
  whole: Value,
  mistakes: Mistake[],
): Instances {
  if (items.length === 0 || items.length > MOST_AMOUNTS)
    mistakes.push({ offset: whole.offset, message: `${label} must have 1 to ${MOST_AMOUNTS} amounts` });
  return Object.fromEntries(items.map(([name, item]) => [name, readAmount(label, item, mistakes)]));
}

/** What is returned after a mistake is never used. */
function readAmount(label: string, value: Value, mistakes: Mistake[]): number {
  const amount = value.kind === "text" && /^\d+(\.\d+)?$/.test(value.text) ? Number(value.text) : Number.NaN;
  if (isResourceAmount(amount)) return amount;
  refuse(value, `each amount of ${label} must be a number above 0 with at most three decimals`, mistakes);
  return 0;
}

function readCount(name: string, { label, value }: Field, mistakes: Mistake[]): Instances {
  const text = value.kind === "text" ? value.text : "";
  const count = /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= MOST_AMOUNTS)
    return Object.fromEntries(Array.from({ length: count }, (_, index) => [`${index}`, 1]));
  const { offset } = value;
  const isNumber = /^\d+(\.\d+)?$/.test(text) && Number(text) > 0;
  const message = isNumber
    ? `${label} must be a whole number from 1 to ${MOST_AMOUNTS}, which counts instances of 1, got ${text}`
    : `${label} must be a number, a list of numbers, or names with numbers`;
  const one = isNumber ? text : "1";
  mistakes.push({ offset, message, hint: `one instance that has ${one} in all: ${name}: [${one}]` });
  return {};
}
