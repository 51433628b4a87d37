// Checks a sweep, typed or from a file: every placeholder must have values, and every parameter a placeholder.

import { GIVEN_NAMES, isNumber, type Template } from "../../model/sweep.js";
import type { Mistake } from "../mistake.js";
import { suggest } from "../suggest.js";
import { isName, parseTemplate } from "./sweep-template.js";

/** Where each parameter gets its values. */
export type ParameterPlaces = ReadonlyMap<string, number>;

interface CheckedCommand {
  readonly text: string;
  readonly offset: number;
}

export interface KnownNames {
  /** Of parameters. */
  readonly names: Iterable<string>;
  /** Of resources, which machines replace when a job starts; absent: none. */
  readonly passed?: ReadonlySet<string> | undefined;
}

const NONE_PASSED: ReadonlySet<string> = new Set();

/** Null: it has a mistake. */
export function readTemplate(
  { text, offset }: CheckedCommand,
  { names, passed = NONE_PASSED }: KnownNames,
  mistakes: Mistake[],
): Template | null {
  const before = mistakes.length;
  if (text.trim() === "") mistakes.push({ offset, message: "the command is empty" });
  if (/[\n\r]/.test(text)) {
    const hint = "join its lines; in a file, write it after >-";
    mistakes.push({ offset, message: "the command must be one line", hint });
  }
  const known = new Set([...names, ...GIVEN_NAMES]);
  const { template: parsed, malformed } = parseTemplate(text);
  const template = parsed.map((piece) => passedOn(piece, known, passed));
  for (const { text: place, name } of malformed.filter((each) => known.has(each.name))) {
    const message = `${place} is not understood, only {${name}}, {${name}!r} and {${name}:0>4} are`;
    mistakes.push({ offset, message, hint: `write {{ and }} for braces themselves` });
  }
  for (const name of placesIn(template)) {
    if (!known.has(name)) mistakes.push({ offset, ...unknownPlace(name, known) });
  }
  return mistakes.length === before ? template : null;
}

/** `{gpu}` stays, for the machine to replace. A parameter of that name takes precedence. */
function passedOn(
  piece: Template[number],
  known: ReadonlySet<string>,
  passed: ReadonlySet<string>,
): Template[number] {
  if (typeof piece === "string" || known.has(piece.name) || !passed.has(piece.name)) return piece;
  return piece.isRaw || piece.padding !== null ? piece : `{${piece.name}}`;
}

function placesIn(template: Template): Set<string> {
  return new Set(template.flatMap((piece) => (typeof piece === "string" ? [] : [piece.name])));
}

function unknownPlace(name: string, known: ReadonlySet<string>): Omit<Mistake, "offset"> {
  const [nearest] = suggest(name, known);
  const message = `{${name}} is no parameter`;
  const hint = `write {{${name}}} for the braces themselves`;
  return nearest === undefined
    ? { message, hint: `known: ${[...known].join(", ")}; ${hint}` }
    : { message: `${message}, did you mean {${nearest}}?`, hint };
}

/** A parameter that only rules use also counts as used. */
export function findUnused(
  command: CheckedCommand,
  places: ParameterPlaces,
  inRules: ReadonlySet<string>,
): Mistake[] {
  const used = placesIn(parseTemplate(command.text).template);
  return [...places]
    .filter(([name]) => !used.has(name) && !inRules.has(name))
    .map(([name, offset]) => ({
      offset,
      message: `${name} is not used in the command`,
      hint: hintForUnused(name, command.text),
    }));
}

function hintForUnused(name: string, command: string): string {
  if (command.includes(`\${${name}}`)) return `write {${name}}: \${${name}} is a variable of the shell`;
  if (command.includes(`{{${name}}`)) return `write {${name}}: {{ is a brace itself`;
  return `write {${name}} where its values go`;
}

/** Null: the name is valid. */
export function checkName(name: string): Omit<Mistake, "offset"> | null {
  if (isName(name)) return null;
  const hint = isNumber(name) ? "the name comes before the values" : "letters, digits and _, a - or . within";
  return { message: `a parameter cannot be called ${JSON.stringify(name)}`, hint };
}

export function checkValue(name: string, value: string): Omit<Mistake, "offset"> | null {
  if (!/[\n\r]/.test(value)) return null;
  return { message: `a value of ${name} is more than one line`, hint: "a job is one line" };
}
