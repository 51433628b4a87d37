// Parses the words in which a machine reports why a job waits. Names in them come from claims of any account.

import type { CardRefusal, RefusedCard, Shortage } from "./shortage.js";

const LONGEST_REASON = 8192;

/** A word of another form is skipped. */
export function parseReason(text: string): Shortage[] {
  const words = text.slice(0, LONGEST_REASON).split(" ");
  const refused = words.flatMap((word): RefusedCard[] => {
    const [, index, rest = ""] = CARD.exec(word) ?? [];
    const why = read(REFUSALS, rest);
    return why === null ? [] : [{ gpu: { index: Number(index) }, why }];
  });
  return words.flatMap((word) => {
    const shortage = read(SHORTAGES, word);
    if (shortage === null) return [];
    return shortage.kind === "gpus" ? { ...shortage, refused } : shortage;
  });
}

/** What a word means, by its form. */
type Forms<Meaning> = readonly (readonly [RegExp, (...words: string[]) => Meaning])[];

function read<Meaning>(forms: Forms<Meaning>, word: string): Meaning | null {
  for (const [form, meaning] of forms) {
    const [whole, ...words] = form.exec(word) ?? [];
    if (whole !== undefined) return meaning(...words);
  }
  return null;
}

const NAME = "([A-Za-z0-9._@%+?-]{1,255})";
const NUMBER = String.raw`(\d{1,15})`;
const CARD = /^card:(\d{1,6}):(.*)$/;

const SHORTAGES: Forms<Shortage> = [
  [
    form("machine", NAME, NAME),
    (owner, batch) => ({ kind: "machine-held", owner: name(owner), batch: name(batch) }),
  ],
  [form("jobs", NUMBER), (most) => ({ kind: "max-jobs", maxJobs: Number(most), claimed: 0 })],
  [
    form("memory", NUMBER, NUMBER),
    (needed, free) => ({ kind: "memory", neededMb: Number(needed), freeMb: Number(free) }),
  ],
  [form("memory", "-"), () => ({ kind: "memory-unknown" })],
  // After claims that were made without a look at the load, less than nothing can be free.
  [
    form("cores", NUMBER, `(-?${NUMBER})`),
    (needed, free) => ({ kind: "cpus", needed: milli(needed), free: milli(free) }),
  ],
  [form("cores", "-"), () => ({ kind: "cpus-unknown" })],
  [
    form("cards", NUMBER, NUMBER),
    (needed, available) => ({
      kind: "gpus",
      needed: milli(needed),
      available: Number(available),
      refused: [],
    }),
  ],
  [
    form("res", NAME, NUMBER, NUMBER),
    (resource, needed, free) => ({
      kind: "resource",
      name: name(resource),
      needed: milli(needed),
      free: milli(free),
    }),
  ],
  [form("kept", NAME), (key) => ({ kind: "kept", key: name(key) })],
  [form("(answer|claim|disk)", "-"), (by) => ({ kind: "hindered", by: by as "answer" | "claim" | "disk" })],
];

const REFUSALS: Forms<CardRefusal> = [
  [
    form("memory", NUMBER, NUMBER, String.raw`(\d{1,15}|-)`),
    (needed, free, total) => ({
      kind: "memory",
      neededMb: Number(needed),
      freeMb: Number(free),
      totalMb: total === "-" ? null : Number(total),
    }),
  ],
  [
    form("use", NUMBER, NUMBER),
    (needed, used) => ({ kind: "utilization", needed: milli(needed), used: milli(used) }),
  ],
  [
    form("amount", NUMBER, NUMBER),
    (needed, free) => ({ kind: "amount", needed: milli(needed), free: milli(free) }),
  ],
  [form("taken", "-", "-", "-"), () => ({ kind: "taken", batch: null })],
  [
    form("taken", NAME, NAME, NAME),
    (owner, batch, job) => ({ kind: "taken", owner: name(owner), batch: name(batch), job: name(job) }),
  ],
  [form("unknown"), () => ({ kind: "memory-unknown" })],
  [form("excluded"), () => ({ kind: "not-allowed" })],
  [form("bad"), () => ({ kind: "unusable", reason: "" })],
  [form("exclusive"), () => ({ kind: "exclusive-in-use" })],
  [form("slice"), () => ({ kind: "slice" })],
  [form("kept"), () => ({ kind: "kept-free" })],
  [form("person"), () => ({ kind: "other-person" })],
  [form("listed"), () => ({ kind: "all-listed" })],
];

function form(...parts: string[]): RegExp {
  return new RegExp(`^${parts.join(":")}$`);
}

/** "-": none, or this account. */
function name(word = "-"): string {
  return word === "-" ? "" : word;
}

function milli(word = "0"): number {
  return Number(word) / 1000;
}
