// Parses a claim file, which any account may have written. docs/slot.md has the format.

import type { Claim, ClaimedCard, ClaimedResource } from "../../model/machine.js";
import { parseClaimWords } from "./parse-claims.js";

/** A longer file is no claim. */
const MOST_BYTES = 4096;

export interface ClaimFile
  extends Pick<Claim, "batch" | "job" | "memoryMb" | "cpus" | "cards" | "resources" | "reservesMachine"> {
  /** The process of its slot; null: not known. */
  readonly loopPid: number | null;
}

/** Null if the file is not a whole claim. Lines of another form are skipped, because later versions may add some. */
export function parseClaimFile(text: string): ClaimFile | null {
  if (text.length > MOST_BYTES || !text.endsWith("\nend\n")) return null;
  const [first = "", ...lines] = text.split("\n").slice(0, -2);
  const words = first.split(" ");
  const claimed = words.length === CLAIM_WORDS ? parseClaimWords(words) : null;
  if (claimed === null) return null;
  const { batch = "", job = "-", pid } = lines.findLast(isBy)?.match(BY)?.groups ?? {};
  return {
    ...claimed,
    batch,
    job: job === "-" ? "" : job.replace(/^0+/, ""),
    loopPid: pid === undefined ? null : Number(pid),
    cards: lines.flatMap((line) => parseCard(line) ?? []),
    resources: lines.flatMap((line) => parseResource(line) ?? []),
  };
}

const CLAIM_WORDS = 7;
const NAME = "[A-Za-z0-9._@%+?-]{1,255}";
const NUMBER = String.raw`\d{1,12}`;
const BY = new RegExp(`^by (?<batch>${NAME}) (?<job>${NAME}) (?<pid>${NUMBER})$`);
const ON = new RegExp(`^on ([A-Za-z0-9._@%+?/:-]{1,255}) (${NUMBER}) (${NUMBER}) (${NUMBER})$`);
const HAS = new RegExp(`^has (${NAME}) (${NAME}) (${NUMBER})$`);

function isBy(line: string): boolean {
  return BY.test(line);
}

function parseCard(line: string): ClaimedCard | null {
  const [, uuid, mb, share, amount] = ON.exec(line) ?? [];
  if (uuid === undefined) return null;
  return {
    uuid,
    memoryMb: Number(mb),
    share: Number(share) / 1000,
    amount: Number(amount) / 1000,
    usedMb: null,
  };
}

function parseResource(line: string): ClaimedResource | null {
  const [, name, instance, amount] = HAS.exec(line) ?? [];
  return name === undefined || instance === undefined
    ? null
    : { name, instance, amount: Number(amount) / 1000 };
}
