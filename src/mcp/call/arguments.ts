// The arguments of tools: what a client reads about each, and how each is checked. All mistakes of a call are reported at once.

import { type Problem, problemsError } from "../../errors.js";
import { suggest } from "../../input/suggest.js";

/** `schema` is JSON Schema, with a description. */
export interface Field<T> {
  readonly schema: Readonly<Record<string, unknown>>;
  /** Notes mistakes, and returns undefined then. */
  readonly read: (value: unknown, where: string, problems: Problem[]) => T | undefined;
}

export type Fields = Readonly<Record<string, Field<unknown>>>;

/** Arguments that were left out are absent. */
export type ValuesOf<F extends Fields> = {
  readonly [K in keyof F]?: F[K] extends Field<infer T> ? T : never;
};

/** `whole`: what has the fields, for messages: `commands[2]`; empty: the call. */
function readFields<F extends Fields>(
  fields: F,
  given: unknown,
  problems: Problem[],
  whole = "",
): ValuesOf<F> {
  const values: Record<string, unknown> = {};
  if (!isObject(given)) {
    problems.push({ where: whole || "arguments", message: `must be an object, got ${shown(given)}` });
    return values as ValuesOf<F>;
  }
  for (const [name, value] of Object.entries(given)) {
    const where = whole === "" ? name : `${whole}.${name}`;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined)
      problems.push({ where, message: "there is no such argument", ...near(name, fields) });
    else if (value !== null) values[name] = field.read(value, where, problems);
  }
  return values as ValuesOf<F>;
}

/** Throws UserError with every mistake. */
export function readArguments<F extends Fields>(
  fields: F,
  required: readonly (keyof F & string)[],
  given: unknown,
): ValuesOf<F> {
  const problems: Problem[] = [];
  const values = readFields(fields, given ?? {}, problems);
  for (const name of required)
    if (!(name in values) && !problems.some(({ where }) => where === name))
      problems.push({ where: name, message: "this argument is needed" });
  if (problems.length > 0) throw problemsError(problems);
  return values;
}

function near(name: string, fields: Fields): { hint: string } {
  const [nearest] = suggest(name, Object.keys(fields));
  return {
    hint: nearest === undefined ? `arguments: ${Object.keys(fields).join(", ")}` : `did you mean ${nearest}?`,
  };
}

/** Any text, also of several lines. */
export function text(about: string, most: number): Field<string> {
  return {
    schema: { type: "string", description: about, maxLength: most },
    read: (value, where, problems) => {
      if (typeof value !== "string" || value.trim() === "")
        return refuse(where, "must be a text", value, problems);
      if (value.includes("\0")) return refuse(where, "must have no NUL character", value, problems);
      if (value.length <= most) return value;
      problems.push({ where, message: `has ${value.length} characters, more than ${most}` });
      return undefined;
    },
  };
}

const LONGEST_WORD = 4096;

/** One word of a command line, which must not be taken for an option. */
export function word(about: string): Field<string> {
  const line = text(about, LONGEST_WORD);
  return {
    schema: { type: "string", description: about },
    read: (value, where, problems) => {
      const read = line.read(value, where, problems);
      if (read === undefined || !/^-|[\n\r]/.test(read)) return read;
      return refuse(where, "must be one line that does not begin with -", value, problems);
    },
  };
}

export function whole(about: string, least: number, most: number): Field<number> {
  return {
    schema: { type: "integer", description: about, minimum: least, maximum: most },
    read: (value, where, problems) =>
      typeof value === "number" && Number.isInteger(value) && value >= least && value <= most
        ? value
        : refuse(where, `must be a whole number from ${least} to ${most}`, value, problems),
  };
}

export function amount(about: string, most: number): Field<number> {
  return {
    schema: { type: "number", description: about, minimum: 0, maximum: most },
    read: (value, where, problems) =>
      typeof value === "number" && value >= 0 && value <= most
        ? value
        : refuse(where, `must be a number from 0 to ${most}`, value, problems),
  };
}

export function flag(about: string): Field<boolean> {
  return {
    schema: { type: "boolean", description: about },
    read: (value, where, problems) =>
      typeof value === "boolean" ? value : refuse(where, "must be true or false", value, problems),
  };
}

export function choice<T extends string>(about: string, words: readonly T[]): Field<T> {
  return {
    schema: { type: "string", description: about, enum: words },
    read: (value, where, problems) =>
      words.find((each) => each === value) ??
      refuse(where, `must be one of ${words.join(", ")}`, value, problems),
  };
}

/** A single one is taken for a list of it. */
export function list<T>(about: string, of: Field<T>, most: number): Field<readonly T[]> {
  return {
    schema: { type: "array", description: about, items: of.schema, minItems: 1, maxItems: most },
    read: (value, where, problems) => {
      const items = Array.isArray(value) ? value : [value];
      if (items.length === 0 || items.length > most)
        return refuse(where, `must have 1 to ${most} items`, items.length, problems);
      const isOne = !Array.isArray(value);
      const read = items.map((item, at) => of.read(item, isOne ? where : `${where}[${at}]`, problems));
      return read.flatMap((item) => (item === undefined ? [] : [item]));
    },
  };
}

/** Either what the first or what the second is, by whether it is a text. */
export function textOr<T>(one: Field<string>, other: Field<T>): Field<string | T> {
  return {
    schema: { anyOf: [one.schema, other.schema] },
    read: (value, where, problems) =>
      typeof value === "string" ? one.read(value, where, problems) : other.read(value, where, problems),
  };
}

export function object<F extends Fields>(
  fields: F,
  required: readonly (keyof F & string)[],
): Field<ValuesOf<F>> {
  return {
    schema: objectSchema(fields, required),
    read: (value, where, problems) => {
      const values = readFields(fields, value, problems, where);
      if (isObject(value))
        for (const name of required)
          if (!(name in value))
            problems.push({ where: `${where}.${name}`, message: "this argument is needed" });
      return values;
    },
  };
}

export function objectSchema(
  fields: Fields,
  required: readonly string[],
): { type: "object" } & Record<string, unknown> {
  return {
    type: "object",
    properties: Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** Names of variables, with their values. */
export function variables(about: string): Field<Readonly<Record<string, string>>> {
  return {
    schema: { type: "object", description: about, additionalProperties: { type: "string" } },
    read: (value, where, problems) => {
      if (!isObject(value)) return refuse(where, "must be an object", value, problems);
      const wrong = Object.entries(value).find(
        ([name, each]) => !/^[A-Za-z_]\w*$/.test(name) || typeof each !== "string" || each.includes("\0"),
      );
      if (wrong === undefined) return value as Record<string, string>;
      problems.push({
        where: `${where}.${wrong[0]}`,
        message: "must be the name of a variable, with a text",
      });
      return undefined;
    },
  };
}

/** Names of resources, with the amount of each. */
export function amounts(about: string, most: number): Field<Readonly<Record<string, number>>> {
  return {
    schema: {
      type: "object",
      description: about,
      additionalProperties: { type: "number", minimum: 0, maximum: most },
    },
    read: (value, where, problems) => {
      if (!isObject(value)) return refuse(where, "must be an object", value, problems);
      const isAmount = (each: unknown) => typeof each === "number" && each >= 0 && each <= most;
      const wrong = Object.entries(value).find(
        ([name, each]) => !/^[A-Za-z_][\w.-]*$/.test(name) || !isAmount(each),
      );
      if (wrong === undefined) return value as Record<string, number>;
      const message = `must be a name, with a number from 0 to ${most}`;
      problems.push({ where: `${where}.${wrong[0]}`, message });
      return undefined;
    },
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refuse(where: string, what: string, value: unknown, problems: Problem[]): undefined {
  problems.push({ where, message: `${what}, got ${shown(value)}` });
  return undefined;
}

function shown(value: unknown): string {
  const json = JSON.stringify(value) ?? "nothing";
  return json.length > 80 ? `${json.slice(0, 80)}…` : json;
}
