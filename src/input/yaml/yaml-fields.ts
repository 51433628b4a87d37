// Reads the fields of a YAML mapping, one kind of value at a time. A reader that finds a mistake notes it and returns
// null, so that all mistakes of a file are found at once.

import type { Mistake } from "../mistake.js";
import { suggest } from "../suggest.js";
import type { Value, YamlMap } from "./yaml-tree.js";

export interface Field {
  /** Its name in messages: `port`, `env LR`. */
  readonly label: string;
  readonly value: Value;
}

export type Fields = ReadonlyMap<string, Field>;

interface NumberShape {
  readonly min: number;
  readonly max?: number;
  /** What it counts, if the name of the field does not show it. */
  readonly unit?: string;
}

interface MapShape {
  /** Null: any key is valid. */
  readonly known: readonly string[] | null;
  /** The label of the field that contains the mapping. */
  readonly parent?: string;
}

export function readFields(map: YamlMap, { known, parent }: MapShape, mistakes: Mistake[]): Fields {
  const fields = new Map<string, Field>();
  for (const { key, value } of map.entries) {
    const { offset } = key;
    if (key.kind !== "text") {
      mistakes.push({ offset, message: "a key must be plain text" });
      continue;
    }
    const label = parent === undefined ? key.text : `${parent} ${key.text}`;
    const repeated = { offset, message: `${label} is given twice`, hint: "keep one" };
    if (known?.includes(key.text) === false) mistakes.push(unknownKey(key.text, offset, known));
    else if (fields.has(key.text)) mistakes.push(repeated);
    else fields.set(key.text, { label, value });
  }
  return fields;
}

function unknownKey(key: string, offset: number, known: readonly string[]): Mistake {
  const message = `unknown key ${JSON.stringify(key)}`;
  const [nearest] = suggest(key, known);
  if (nearest !== undefined) return { offset, message: `${message}, did you mean "${nearest}"?` };
  return { offset, message, hint: `known here: ${known.join(", ")}` };
}

/** Also null if the file does not have the key. */
export function optional<T>(fields: Fields, key: string, read: (field: Field) => T | null): T | null {
  const field = fields.get(key);
  return field === undefined ? null : read(field);
}

/** May be empty if quoted. Messages never show it, because an environment can contain secrets. */
export function readText({ label, value }: Field, mistakes: Mistake[]): string | null {
  if (value.kind !== "text") return refuse(value, `${label} must be text`, mistakes);
  if (!value.text.includes("\0")) return value.text;
  mistakes.push({ offset: value.offset, message: `${label} must not hold a NUL character` });
  return null;
}

export function readYesOrNo({ label, value }: Field, mistakes: Mistake[]): boolean | null {
  if (value.kind === "text" && value.text === "true") return true;
  if (value.kind === "text" && value.text === "false") return false;
  return refuse(value, `${label} must be true or false`, mistakes);
}

export function readWholeNumber(
  field: Field,
  { min, max, unit }: NumberShape,
  mistakes: Mistake[],
): number | null {
  const { label, value } = field;
  const number = value.kind === "text" && /^(0|[1-9]\d*)$/.test(value.text) ? Number(value.text) : Number.NaN;
  if (number >= min && number <= (max ?? Number.MAX_SAFE_INTEGER)) return number;
  const range = max === undefined ? `of ${min} or more` : `from ${min} to ${max}`;
  const counted = unit === undefined ? range : `${range} (${unit})`;
  return refuse(value, `${label} must be a whole number ${counted}`, mistakes);
}

/** Refuses a single number, because it could be meant as a count. */
export function readWholeNumbers({ label, value }: Field, mistakes: Mistake[]): number[] | null {
  if (value.kind !== "list") {
    return refuse(value, `${label} must be a list of whole numbers such as [0, 1]`, mistakes);
  }
  const numbers = value.items.map((item) =>
    readWholeNumber({ label: `each of ${label}`, value: item }, { min: 0 }, mistakes),
  );
  const twice = numbers.findIndex((number, index) => number !== null && numbers.indexOf(number) < index);
  const repeated = value.items[twice];
  if (repeated !== undefined) return refuse(repeated, `${label} must name each number once`, mistakes);
  return numbers.filter((number) => number !== null);
}

/** One text, or a list of texts. */
export function readTexts(field: Field, mistakes: Mistake[]): string[] {
  const { label, value } = field;
  const fields =
    value.kind === "list" ? value.items.map((item) => ({ label: `each of ${label}`, value: item })) : [field];
  return fields.map((one) => readText(one, mistakes)).filter((text) => text !== null);
}

export function refuse(value: Value, message: string, mistakes: Mistake[]): null {
  mistakes.push({ offset: value.offset, message: `${message}, got ${describeValue(value)}` });
  return null;
}

function describeValue(value: Value): string {
  switch (value.kind) {
    case "nothing":
      return "nothing";
    case "text":
      return JSON.stringify(value.text.length > 60 ? `${value.text.slice(0, 60)}...` : value.text);
    case "list":
      return "a list";
    case "map":
      return "a mapping";
    default:
      return value satisfies never;
  }
}

/** What people write as `gpu1, gpu2` or `gpu1 gpu2`, as YAML has it: `[gpu1, gpu2]`. */
export function asList(text: string): string {
  const items = text.split(/[\s,]+/).filter((item) => item !== "");
  return `[${items.join(", ")}]`;
}
