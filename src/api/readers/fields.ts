// Reads JSON of a request by rules, and gathers every mistake with its place: `jobs[3].need.cpus`.

import type { Problem } from "../../errors.js";
import { suggest } from "../../input/suggest.js";

export interface Place {
  readonly where: string;
  readonly problems: Problem[];
}

/** What is returned after a mistake is never used: the request is refused. */
export type Read<T> = (raw: unknown, place: Place) => T;

interface Field<T> {
  readonly read: Read<T>;
  readonly isRequired: boolean;
}

/** A field that the type gets does not compile until it is read. */
type Fields<T> = { readonly [K in keyof T]-?: Field<Exclude<T[K], undefined>> };

export function required<T>(read: Read<T>): Field<T> {
  return { read, isRequired: true };
}

export function optional<T>(read: Read<T>): Field<T> {
  return { read, isRequired: false };
}

export function object<T>(fields: Fields<T>): Read<T> {
  const known = Object.keys(fields);
  return (raw, place) => {
    const values = asObject(raw, place);
    if (values === null) return {} as T;
    for (const name of Object.keys(values)) if (!known.includes(name)) refuseUnknown(name, known, place);
    const entries = known.flatMap((name) => {
      const { read, isRequired } = fields[name as keyof T];
      const inside = at(place, name);
      if (Object.hasOwn(values, name)) return [[name, read(values[name], inside)]];
      if (isRequired) refuse(inside, "is missing");
      return [];
    });
    return Object.fromEntries(entries) as T;
  };
}

/** Names with values. */
export function map<T>(named: Read<string>, value: Read<T>): Read<Readonly<Record<string, T>>> {
  return (raw, place) => {
    const entries = Object.entries(asObject(raw, place) ?? {});
    return Object.fromEntries(
      entries.map(([name, each]) => [named(name, at(place, name)), value(each, at(place, name))]),
    );
  };
}

export function list<T>(item: Read<T>, most: number): Read<readonly T[]> {
  return (raw, place) => {
    if (!Array.isArray(raw)) return wrong([], place, "must be a list", raw);
    if (raw.length > most) return wrong([], place, `must have at most ${most} items`, raw.length);
    return raw.map((each, index) => item(each, { ...place, where: `${place.where}[${index}]` }));
  };
}

export function orNull<T>(read: Read<T>): Read<T | null> {
  return (raw, place) => (raw === null ? null : read(raw, place));
}

/** `what`: "must be …". */
export function check<T>(is: (raw: unknown) => boolean, what: string): Read<T> {
  return (raw, place) => (is(raw) ? (raw as T) : wrong(raw as T, place, what, raw));
}

export function oneOf<T extends string | number>(values: readonly T[]): Read<T> {
  return check((raw) => values.includes(raw as T), `must be one of ${values.join(", ")}`);
}

export function whole(least: number, most: number): Read<number> {
  return check(
    (raw) => Number.isSafeInteger(raw) && Number(raw) >= least && Number(raw) <= most,
    `must be a whole number from ${least} to ${most}`,
  );
}

export function amount(least: number, most: number): Read<number> {
  return check(
    (raw) => typeof raw === "number" && raw >= least && raw <= most,
    `must be a number from ${least} to ${most}`,
  );
}

/** Not empty, without NUL, which no command and no file name can have. */
export function text(mostBytes: number): Read<string> {
  return check(
    (raw) => isText(raw, mostBytes) && raw !== "",
    `must be a text of 1 to ${mostBytes} bytes without NUL`,
  );
}

/** For values that may be secrets: a mistake does not show them. */
export function textOrEmpty(mostBytes: number): Read<string> {
  return (raw, place) => {
    if (isText(raw, mostBytes)) return raw;
    refuse(place, `must be a text of at most ${mostBytes} bytes without NUL`);
    return "";
  };
}

function isText(raw: unknown, mostBytes: number): raw is string {
  return typeof raw === "string" && !raw.includes("\0") && Buffer.byteLength(raw) <= mostBytes;
}

export const flag: Read<boolean> = check((raw) => typeof raw === "boolean", "must be true or false");

export function refuse({ where, problems }: Place, message: string, hint?: string): void {
  problems.push({ where, message, ...(hint !== undefined && { hint }) });
}

export function refuseUnknown(name: string, known: readonly string[], place: Place): void {
  const [nearest] = suggest(name, known);
  const hint = nearest === undefined ? `known: ${known.join(", ")}` : `did you mean ${nearest}?`;
  refuse(at(place, name), "is not known", hint);
}

function asObject(raw: unknown, place: Place): Readonly<Record<string, unknown>> | null {
  if (typeof raw === "object" && raw !== null && !Array.isArray(raw)) return raw as Record<string, unknown>;
  return wrong(null, place, "must be an object", raw);
}

function wrong<T>(instead: T, place: Place, what: string, raw: unknown): T {
  refuse(place, `${what}, got ${shown(raw)}`);
  return instead;
}

const MOST_SHOWN = 60;

function shown(raw: unknown): string {
  if (typeof raw === "object" && raw !== null) return Array.isArray(raw) ? "a list" : "an object";
  const text = JSON.stringify(raw) ?? String(raw);
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
}

function at(place: Place, name: string): Place {
  return { ...place, where: place.where === "" ? name : `${place.where}.${name}` };
}
