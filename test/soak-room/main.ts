// Many rounds of two accounts that start at the same moment. One line per round, then the totals.

import { isRoot } from "../rig/account.js";
import { startSharedMachine } from "../rig/shared-machine.js";
import { CARDS, roomRound } from "./round.js";

/** Resolves with the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  if (argv.length > 1 || argv.some((word) => !/^[1-9]\d*$/.test(word)) || !isRoot) {
    console.error("usage, as root: npm run soak:room [rounds]; 50 rounds unless given");
    return 2;
  }
  const rounds = Number(argv[0] ?? 50);
  const machine = await startSharedMachine(Array(CARDS).fill({}));
  let failures = 0;
  try {
    for (let round = 1; round <= rounds; round++) {
      const began = Date.now();
      const wrong = await roomRound(machine);
      if (wrong.length > 0) failures++;
      const verdict = wrong.length === 0 ? "fine" : `WRONG\n${wrong.join("\n")}`;
      console.log(`room ${round}: ${Date.now() - began} ms: ${verdict}`);
    }
  } finally {
    await machine.stop();
  }
  console.log(`${rounds} rounds, ${failures} with two jobs in the same room, or with anything left`);
  return failures === 0 ? 0 : 1;
}
