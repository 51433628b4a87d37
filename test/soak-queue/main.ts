// Many rounds of a queue service that is killed while it gets jobs and runs them. One line per round, then the totals.

import { seededRandom } from "../soak/seeded.js";
import { queueRound } from "./round.js";

/** Resolves with the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  if (argv.length > 2 || argv.some((word) => !/^[1-9]\d*$/.test(word))) {
    console.error("usage: npm run soak:queue [rounds] [seed]; 100 rounds unless given");
    return 2;
  }
  const [rounds = 100, seed = Date.now() % 1_000_000] = argv.map(Number);
  console.log(`seed ${seed}`);
  const totals = { jobs: 0, kills: 0, cut: 0, failures: 0 };
  for (let round = 1; round <= rounds; round++) {
    const began = Date.now();
    const { jobs, kills, cut, wrong } = await queueRound(seededRandom(seed + round - 1));
    totals.jobs += jobs;
    totals.kills += kills;
    totals.cut += cut;
    if (wrong.length > 0) totals.failures++;
    const verdict = wrong.length === 0 ? "fine" : `WRONG (seed ${seed + round - 1})\n${wrong.join("\n")}`;
    const took = `${Date.now() - began} ms, ${jobs} jobs, ${kills} kills, ${cut} requests cut`;
    console.log(`queue ${round}: ${took}: ${verdict}`);
  }
  const { jobs, kills, cut, failures } = totals;
  console.log(`${rounds} rounds, ${jobs} jobs, ${kills} kills, ${cut} requests cut`);
  console.log(`${failures} rounds with anything lost, twice, wrong or left`);
  return failures === 0 ? 0 : 1;
}
