// --gpus 0,1,2 or --gpus 0 0 1: the cards for jobs, one slot per listed card. --gpus 0,1 2,3: two slots of two cards.

import { UserError } from "../../errors.js";
import type { ListedCard } from "../../model/job.js";

export interface GpuList {
  readonly listed: readonly ListedCard[];
  /** Cards per slot. */
  readonly perJob: number;
}

const CARD = /^(\d{1,3}|(GPU|MIG)-[\w/-]+)$/;

/** `perJob`: the value of --gpus-per-job. */
export function parseGpuList(words: readonly string[], perJob: number): GpuList {
  const groups = words.map((word) => word.split(",").filter((card) => card !== ""));
  const cards = groups.flat();
  const odd = cards.find((card) => !CARD.test(card));
  if (odd !== undefined || cards.length === 0) {
    throw new UserError(`--gpus takes numbers or UUIDs of cards, got "${odd ?? words.join(" ")}"`, {
      hint: "for example script.sh --gpus 0,1,2, the script first; nvidia-smi -L lists the cards",
    });
  }
  if (!Number.isInteger(perJob)) {
    throw new UserError(`--gpus lists whole cards, but --gpus-per-job is ${perJob}`, {
      hint: "two jobs at a time on card 0: --gpus 0 0; or leave out --gpus",
    });
  }
  const count = perJob === 1 ? sizeOfGroups(groups) : perJob;
  if (cards.length % count > 0) {
    throw new UserError(
      `--gpus lists ${cards.length} cards, which cannot be split into groups of ${count} (--gpus-per-job)`,
      { hint: `list ${cards.length - (cards.length % count) + count} of them` },
    );
  }
  return { listed: cards.map((card) => (/^\d/.test(card) ? Number(card) : card)), perJob: count };
}

/** One word is a list of single cards; several words are the cards of one job each, unless one lists a card twice. */
function sizeOfGroups(groups: readonly (readonly string[])[]): number {
  const sizes = new Set(groups.map(({ length }) => length).filter((size) => size > 0));
  const [size = 1, other] = sizes;
  if (groups.length === 1 || groups.some((group) => new Set(group).size < group.length)) return 1;
  if (other === undefined) return size;
  const typed = groups.map((group) => group.join(",")).join(" ");
  throw new UserError(
    `--gpus ${typed}: jobs would get ${size} or ${other} cards, but all get the same number`,
    {
      hint: `one card per job: --gpus ${groups.flat().join(" ")}`,
    },
  );
}
