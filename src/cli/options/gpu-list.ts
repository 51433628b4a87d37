// --gpus 0,1,2 or --gpus 0 0 1: the cards jobs run on, and a slot each time one is listed.

import { UserError } from "../../errors.js";

/** `perJob` cards make one slot. */
export function parseGpuList(words: readonly string[], perJob: number): number[] {
  const typed = words.join(" ");
  const indices = words.flatMap((word) => word.split(",")).filter((word) => word !== "");
  const odd = indices.find((index) => !/^\d{1,3}$/.test(index));
  if (odd !== undefined || indices.length === 0) {
    throw new UserError(`--gpus takes numbers of cards, got "${odd ?? typed}"`, {
      hint: "for example script.sh --gpus 0,1,2, the script first; nvidia-smi -L lists the cards",
    });
  }
  if (indices.length % perJob > 0) {
    throw new UserError(
      `--gpus lists ${indices.length}, which cannot be dealt out ${perJob} to a job (--gpus-per-job)`,
      { hint: `list ${indices.length - (indices.length % perJob) + perJob} of them` },
    );
  }
  return indices.map(Number);
}
