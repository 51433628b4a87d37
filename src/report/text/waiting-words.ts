// Rewrites a machine's reason why a slot takes no job for people: cards by their numbers, amounts in GB. Slots of older versions
// report sentences.

import { isAttemptKey, parseAttemptKey } from "../../model/attempt-key.js";
import type { JobId } from "../../model/job.js";
import type { LabelOf } from "../../model/job-label.js";
import type { Slot } from "../../model/machine.js";
import { parseReason } from "../../model/parse-reason.js";
import { printable } from "./printable.js";
import { reasonLine } from "./shortage-words.js";

const MEMORY = /^memory: (\d+) MB wanted, (\d+) MB free$/;
const CARD_MEMORY = /^GPU (\S+): (\d+) MB wanted, (\d+) MB free$/;
const CARD = /^GPU (GPU-\S+|MIG-\S+)/;

interface About {
  /** The machine's slots, which have its cards. */
  readonly slots?: readonly Slot[];
  /** Its name on machines, if it is known. */
  readonly batch?: string;
  /** Of the jobs of the batch. */
  readonly labelOf?: LabelOf;
}

/** Safe to print. */
export function waitingWords(
  reason: string,
  { slots = [], batch = "", labelOf = String }: About = {},
): string {
  const shortages = parseReason(reason);
  if (shortages.length > 0)
    return reasonLine(shortages, { ...UNMEASURED, batch, labelOf: (word) => labelOf(idOf(word)) });
  const memory = MEMORY.exec(reason);
  if (memory !== null) return `needs ${gigabytes(memory[1])} of memory, ${gigabytes(memory[2])} free`;
  const card = CARD_MEMORY.exec(reason);
  if (card !== null)
    return `needs ${gigabytes(card[2])}, card ${cardName(card[1], slots)} has ${gigabytes(card[3])} free`;
  return printable(reason.replace(CARD, (_, uuid: string) => `card ${cardName(uuid, slots)}`));
}

const UNMEASURED = { capacity: null, file: null, isNever: false };

/** A reason names jobs by their ids, or by the keys of their attempts. */
function idOf(word: string): JobId {
  return isAttemptKey(word) ? parseAttemptKey(word).job : Number(word);
}

/** One decimal; `mb` counts 2^20 bytes. */
function gigabytes(mb: string | undefined): string {
  return `${(Number(mb) / 1024).toFixed(1)} GB`;
}

function cardName(word: string | undefined, slots: readonly Slot[]): string {
  const card = slots.flatMap(({ gpus }) => gpus).find(({ uuid }) => uuid === word);
  return printable(card === undefined ? (word ?? "") : String(card.index));
}
