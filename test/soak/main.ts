// Tests that are too long for every test run: hundreds of faults, and how soon a client is back after a cut.

import { measureReturn } from "./measure-return.js";
import { soak } from "./rounds.js";

/** Resolves with the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  if (argv.some((word) => !/^[1-9]\d*$/.test(word))) {
    console.error("usage: npm run soak [rounds] [seed]; 100 rounds unless given");
    return 2;
  }
  const [rounds = 100, seed = Date.now() % 1_000_000] = argv.map(Number);
  await measureReturn(10);
  return (await soak({ rounds, seed })) === 0 ? 0 : 1;
}
