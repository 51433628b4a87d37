// Reads the parameters of a sweep file: `grid:`, `random:` and `list:`, in the order in which they are written.

import type { Axis } from "../../model/sweep.js";
import type { Mistake } from "../mistake.js";
import { type Field, type Fields, readFields, readText, refuse } from "../yaml/yaml-fields.js";
import type { Value } from "../yaml/yaml-tree.js";
import { checkName, checkValue } from "./sweep-checks.js";
import { parseDistribution } from "./sweep-distribution.js";

export interface NamedAxes {
  readonly axes: readonly Axis[];
  /** Where each parameter gets its values. */
  readonly places: ReadonlyMap<string, number>;
}

/** The axis of each section, with the places of its parameters; without values that could not be read. */
type Found = readonly { readonly axis: Axis; readonly places: readonly (readonly [string, number])[] }[];

const READERS = { grid: readGrid, random: readRandom, list: readList };

export function readAxes(fields: Fields, mistakes: Mistake[]): NamedAxes {
  const found = [...fields].flatMap(([key, field]) =>
    key === "grid" || key === "random" || key === "list" ? READERS[key](field, mistakes) : [],
  );
  const places = new Map<string, number>();
  for (const [name, offset] of found.flatMap((each) => each.places)) {
    const misnamed = checkName(name);
    if (misnamed !== null) mistakes.push({ offset, ...misnamed });
    else if (!places.has(name)) places.set(name, offset);
    else mistakes.push({ offset, message: `${name} gets its values in two places`, hint: "keep one" });
  }
  if (!["grid", "random", "list"].some((key) => fields.has(key))) {
    mistakes.push({ offset: 0, message: "there are no parameters", hint: "write grid:, random: or list:" });
  }
  return { axes: found.map(({ axis }) => axis), places };
}

function readGrid(field: Field, mistakes: Mistake[]): Found {
  return readNamed(field, "name: [value, value]", mistakes).flatMap(([name, { label, value }]) => {
    const items = value.kind === "list" ? value.items : [value];
    if (items.length === 0) refuse(value, `${label} must have values`, mistakes);
    const texts = items.map((item) => readValue(name, { label: `each of ${label}`, value: item }, mistakes));
    for (const [index, item] of items.entries()) {
      const text = texts[index];
      if (text !== null && texts.indexOf(text as string) < index) {
        mistakes.push({ offset: item.offset, message: `${label} has ${JSON.stringify(text)} twice` });
      }
    }
    const rows = texts.map((text) => [text ?? ""]);
    return [{ axis: { kind: "rows", names: [name], rows }, places: [[name, value.offset]] }] satisfies Found;
  });
}

function readRandom(field: Field, mistakes: Mistake[]): Found {
  return readNamed(field, "name: log:1e-5..1e-1", mistakes).flatMap(([name, { label, value }]): Found => {
    const text = readText({ label, value }, mistakes);
    if (text === null) return [];
    const parsed = parseDistribution(text);
    const places = [[name, value.offset]] as const;
    if ("distribution" in parsed) return [{ axis: { kind: "random", name, ...parsed }, places }];
    mistakes.push({ offset: value.offset, message: `${label}: ${parsed.message}`, ...hintOf(parsed) });
    // Prevents a second report that the parameter does not exist.
    return [{ axis: { kind: "rows", names: [name], rows: [] }, places }];
  });
}

function hintOf({ hint }: { readonly hint?: string }): { hint?: string } {
  return hint === undefined ? {} : { hint };
}

/** Every entry is one row: its parameters vary together. */
function readList({ label, value }: Field, mistakes: Mistake[]): Found {
  if (value.kind !== "list" || value.items.length === 0) {
    refuse(value, `${label} must hold entries of the form - {name: value, name: value}`, mistakes);
    return [];
  }
  const entries = value.items.map((item) => readEntry(item, mistakes));
  const first = entries.find((entry) => entry.size > 0) ?? new Map<string, Text>();
  const names = [...first.keys()];
  for (const [index, entry] of entries.entries()) {
    const offset = value.items[index]?.offset ?? value.offset;
    mistakes.push(...compareEntry(entry, { names, offset, earlier: entries.slice(0, index) }));
  }
  const rows = entries.map((entry) => names.map((name) => entry.get(name)?.text ?? ""));
  const places = [...first].map(([name, { offset }]) => [name, offset] as const);
  return [{ axis: { kind: "rows", names, rows }, places }];
}

interface Text {
  readonly text: string;
  readonly offset: number;
}

function readEntry(item: Value, mistakes: Mistake[]): ReadonlyMap<string, Text> {
  if (item.kind !== "map" || item.entries.length === 0) {
    refuse(item, "each of list must be of the form {name: value, name: value}", mistakes);
    return new Map();
  }
  const fields = readFields(item, { known: null, parent: "list" }, mistakes);
  return new Map(
    [...fields].map(([name, field]) => {
      return [name, { text: readValue(name, field, mistakes) ?? "", offset: field.value.offset }];
    }),
  );
}

interface Others {
  readonly names: readonly string[];
  readonly offset: number;
  readonly earlier: readonly ReadonlyMap<string, Text>[];
}

function compareEntry(entry: ReadonlyMap<string, Text>, { names, offset, earlier }: Others): Mistake[] {
  if (entry.size === 0) return [];
  const missing = names.filter((name) => !entry.has(name));
  const surplus = [...entry.keys()].filter((name) => !names.includes(name));
  const hint = "every entry names the same parameters";
  if (missing.length > 0) return [{ offset, message: `${missing.join(", ")} is missing here`, hint }];
  if (surplus.length > 0) {
    return [{ offset, message: `the first entry has no ${surplus.join(", ")}`, hint }];
  }
  const isRepeated = earlier.some((other) =>
    names.every((name) => other.get(name)?.text === entry.get(name)?.text),
  );
  return isRepeated ? [{ offset, message: "the entry is repeated", hint: "keep one" }] : [];
}

function readNamed({ label, value }: Field, shape: string, mistakes: Mistake[]): [string, Field][] {
  if (value.kind === "map") return [...readFields(value, { known: null, parent: label }, mistakes)];
  refuse(value, `${label} must hold lines of the form ${shape}`, mistakes);
  return [];
}

function readValue(name: string, field: Field, mistakes: Mistake[]): string | null {
  const text = readText(field, mistakes);
  const found = text === null ? null : checkValue(name, text);
  if (found === null) return text;
  mistakes.push({ offset: field.value.offset, ...found });
  return null;
}
