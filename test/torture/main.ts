// npm run torture [seed] [rounds] [jobs]: rounds of torture, one line per round, then the totals. Round n has the seed
// `seed + n - 1`, so that one round can be repeated alone.

import { seededRandom } from "../soak/seeded.js";
import { PROBLEM_KINDS, type Problem } from "./audit.js";
import { drawJobs } from "./jobs.js";
import { keepEvidence } from "./keep-evidence.js";
import { type Machine, startMachines } from "./machines.js";
import { drawFaults } from "./plan.js";
import { type RoundOutcome, tortureRound } from "./round.js";

const SHOWN = 5;

/** Resolves with the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  if (argv.some((word) => !/^[1-9]\d*$/.test(word))) {
    console.error("usage: npm run torture [seed] [rounds] [jobs]; 10 rounds of 1500 jobs unless given");
    return 2;
  }
  const [seed = Date.now() % 1_000_000, rounds = 10, jobs = 1500] = argv.map(Number);
  const { machines, stop } = await startMachines();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void stop().finally(() => process.exit(130)));
  const sums = { jobs: 0, starts: 0, faults: 0, clients: 0, problems: [] as Problem[] };
  try {
    for (let round = 0; round < rounds; round++) {
      const outcome = await playRound(machines, seed + round, jobs);
      sums.jobs += jobs;
      sums.starts += outcome.starts;
      sums.faults += outcome.struck.length;
      sums.clients += outcome.clients.length;
      sums.problems.push(...outcome.problems);
    }
  } finally {
    await stop();
  }
  const { starts, clients, faults, problems } = sums;
  console.log(
    `${rounds} rounds from seed ${seed}: ${sums.jobs} jobs, ${starts} starts, ${clients} clients, ${faults} faults`,
  );
  console.log(`problems: ${countProblems(problems)}`);
  return problems.length === 0 ? 0 : 1;
}

async function playRound(machines: readonly Machine[], seed: number, count: number): Promise<RoundOutcome> {
  const random = seededRandom(seed);
  const batch = drawJobs(count, random);
  const faults = drawFaults({ jobs: count, machines: machines.length, random });
  const startedAt = performance.now();
  const outcome = await tortureRound(machines, { batch, faults, random });
  const { problems, struck, starts, clients } = outcome;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const verdict = problems.length === 0 ? "fine" : `PROBLEMS: ${countProblems(problems)}`;
  console.log(
    `seed ${seed}: ${count} jobs, ${starts} starts, ${clients.length} clients, ${struck.length} faults, ${seconds} s: ${verdict}`,
  );
  if (problems.length > 0) {
    showProblems(outcome);
    const kept = keepEvidence(outcome, machines, `${seed}-${count}`);
    console.log(`  kept in ${kept}; play it again: npm run torture ${seed} 1 ${count}`);
  }
  await outcome.remove();
  return outcome;
}

/** Shows some of each kind, because one fault can cause hundreds of one kind. */
function showProblems({ problems, struck }: RoundOutcome): void {
  for (const text of struck) console.log(`    ${text}`);
  for (const kind of PROBLEM_KINDS) {
    const some = problems.filter((one) => one.kind === kind);
    for (const { text } of some.slice(0, SHOWN)) console.log(`  ${kind}: ${text}`);
    if (some.length > SHOWN) console.log(`  ${kind}: and ${some.length - SHOWN} more`);
  }
}

function countProblems(problems: readonly Problem[]): string {
  const counts = PROBLEM_KINDS.map((kind) => `${problems.filter((one) => one.kind === kind).length} ${kind}`);
  return counts.join(", ");
}
