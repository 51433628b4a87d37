// The rules for what follows the question mark of a path.

import type { JobId } from "../../model/job.js";
import type { JobQuery } from "../../model/queue.js";
import { JOB_WORDS, type JobWord } from "../../model/standing.js";
import { type Place, type Read, refuse, refuseUnknown, text } from "./fields.js";
import { knownQueue } from "./job-readers.js";

/** Each name at most once. */
export type Query = ReadonlyMap<string, string>;

const MOST_IDS = 200_000;
const MOST_BYTES = 4096;

/** `known`: the names that the route has. */
export function readQuery(parameters: URLSearchParams, known: readonly string[], place: Place): Query {
  const query = new Map<string, string>();
  for (const [name, value] of parameters) {
    const inside = { ...place, where: name };
    if (!known.includes(name)) refuseUnknown(name, known, place);
    else if (query.has(name)) refuse(inside, "is there twice");
    else query.set(name, value);
  }
  return query;
}

export function readJobQuery(query: Query, place: Place): JobQuery {
  const one = <T>(name: string, read: Read<T>): T | undefined => {
    const value = query.get(name);
    return value === undefined ? undefined : read(value, { ...place, where: name });
  };
  const queue = one("queue", knownQueue);
  const ids = one("ids", readIds);
  const names = one("names", (raw) => String(raw).split(","));
  const states = one("states", readStates);
  const searched = one("text", text(MOST_BYTES));
  const before = one("before", number(1));
  const limit = one("limit", number(1));
  return {
    ...(queue !== undefined && { queue }),
    ...(ids !== undefined && { ids }),
    ...(names !== undefined && { names }),
    ...(states !== undefined && { states }),
    ...(searched !== undefined && { text: searched }),
    ...(before !== undefined && { before }),
    ...(limit !== undefined && { limit }),
  };
}

export function number(least: number): Read<number> {
  return (raw, place) => {
    const value = /^\d{1,15}$/.test(String(raw)) ? Number(raw) : Number.NaN;
    if (!(value >= least)) refuse(place, `must be a whole number from ${least}, got ${JSON.stringify(raw)}`);
    return value;
  };
}

/** `?stop=1`. */
export function isSet(query: Query, name: string, place: Place): boolean {
  const value = query.get(name) ?? "0";
  if (value !== "0" && value !== "1")
    refuse({ ...place, where: name }, `must be 1 or 0, got ${JSON.stringify(value)}`);
  return value === "1";
}

const readStates: Read<readonly JobWord[]> = (raw, place) =>
  String(raw)
    .split(",")
    .map((word) => {
      const known = JOB_WORDS.find((each) => each === word);
      if (known === undefined) refuse(place, `must have words of ${JOB_WORDS.join(", ")}, got ${word}`);
      return known ?? "waiting";
    });

/** `1,3-5`. */
const readIds: Read<readonly JobId[]> = (raw, place) => {
  const ids: JobId[] = [];
  for (const part of String(raw).split(",")) {
    const [, first, last = first] = /^([1-9]\d{0,14})(?:-([1-9]\d{0,14}))?$/.exec(part) ?? [];
    const count = Number(last) - Number(first) + 1;
    if (!(count >= 1)) refuse(place, `must be ids such as 1,3-5, got ${JSON.stringify(part)}`);
    else if (ids.length + count > MOST_IDS) refuse(place, `must be at most ${MOST_IDS} ids`);
    else for (let id = Number(first); id <= Number(last); id += 1) ids.push(id);
    if (place.problems.length > 0) return ids;
  }
  return ids;
};
