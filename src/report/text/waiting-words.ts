// Rewrites a machine's reason why a slot takes no job for people: cards by their numbers, amounts in GB. Slots of older versions
// report sentences.

import { isAttemptKey, parseAttemptKey } from "../../model/attempt-key.js";
import type { Slot } from "../../model/machine.js";
import { parseReason } from "../../model/parse-reason.js";
import { printable } from "./printable.js";
import { reasonLine } from "./shortage-words.js";

const MEMORY = /^memory: (\d+) MB wanted, (\d+) MB free$/;
const CARD_MEMORY = /^GPU (\S+): (\d+) MB wanted, (\d+) MB free$/;
const CARD = /^GPU (GPU-\S+|MIG-\S+)/;

/** Safe to print. `slots`: the machine's slots, which have its cards. `batch`: its name on machines, if it is known. */
export function waitingWords(reason: string, slots: readonly Slot[] = [], batch = ""): string {
  const shortages = parseReason(reason);
  if (shortages.length > 0) return reasonLine(shortages, { ...UNMEASURED, batch });
  const memory = MEMORY.exec(reason);
  if (memory !== null) return `needs ${gigabytes(memory[1])} of memory, ${gigabytes(memory[2])} free`;
  const card = CARD_MEMORY.exec(reason);
  if (card !== null)
    return `needs ${gigabytes(card[2])}, card ${cardName(card[1], slots)} has ${gigabytes(card[3])} free`;
  return printable(reason.replace(CARD, (_, uuid: string) => `card ${cardName(uuid, slots)}`));
}

const UNMEASURED = { capacity: null, file: null, isNever: false, labelOf };

/** Jobs are numbered in the order of the batch file, as their labels usually are. */
function labelOf(key: string): string {
  return isAttemptKey(key) ? String(parseAttemptKey(key).job) : key;
}

/** One decimal; `mb` counts 2^20 bytes. */
function gigabytes(mb: string | undefined): string {
  return `${(Number(mb) / 1024).toFixed(1)} GB`;
}

function cardName(word: string | undefined, slots: readonly Slot[]): string {
  const card = slots.flatMap(({ gpus }) => gpus).find(({ uuid }) => uuid === word);
  return printable(card === undefined ? (word ?? "") : String(card.index));
}
