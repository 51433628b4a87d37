// Card and batch names as people write them: without their maker, and without the digits that tell runs apart.

import { printable } from "./printable.js";

const MAKERS = /^(?:(?:NVIDIA|AMD|Tesla|GeForce|Quadro|Radeon|Instinct)\s+)+/i;
const FORM = /[- ](?:SXM\d?|PCIe?|HBM\d?)\b.*$/i;

/** `A100` for "NVIDIA A100-SXM4-40GB", `RTX 3090` for "NVIDIA GeForce RTX 3090". */
export function shortCardName(name: string): string {
  const [, whole = name, slice = ""] = /^(.*?)( MIG .*)?$/.exec(printable(name)) ?? [];
  return `${whole.replace(MAKERS, "").replace(FORM, "")}${slice}`;
}

/** `train.sh` for "train.sh-1f2e3d4c", as machines know the batch. */
export function shortBatchName(batch: string): string {
  return printable(batch.replace(/-[\da-f]{8}$/, ""));
}
