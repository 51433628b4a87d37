// The batch that is disturbed, round after round: jobs of all kinds, and inputs that were never staged before.

import { randomBytes } from "node:crypto";
import type { Ledger } from "../rig/ledger.js";

const JOBS = 14;
/** Some end at once, some take a while, some read staged files. */
const KINDS = [
  ":",
  "sleep 0.2",
  "sleep 0.05; cat input.bin >/dev/null",
  "grep -q input lib/deep/input.txt",
  "sleep 0.4",
];

export async function writeBatch(ledger: Ledger): Promise<void> {
  await ledger.write(Array.from({ length: JOBS }, (_, index) => ledger.job(KINDS[index % KINDS.length])));
  await ledger.work.write("input.bin", randomBytes(200_000));
  await ledger.work.write("lib/deep/input.txt", "input\n");
}
