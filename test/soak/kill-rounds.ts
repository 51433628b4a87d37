// Many rounds of killing the client, at instants spread over the whole life of a batch. One line a round, then how
// often it was killed after what.

import { startSshd } from "../rig/sshd.js";
import { killRound } from "./kill-round.js";
import { seededRandom } from "./seeded.js";

const JOBS = 14;
/** How far beyond the end of an undisturbed run instants lie: the command that follows may take longer. */
const STRETCH = 1.2;

export interface KillRounds {
  readonly rounds: number;
  readonly seed: number;
}

/** Resolves with the number of rounds in which anything was wrong. */
export async function killRounds({ rounds, seed }: KillRounds): Promise<number> {
  const hosts = await Promise.all([startSshd({ name: "one" }), startSshd({ name: "two" })]);
  const random = seededRandom(seed);
  const killedAfter = new Map<string, number>();
  let failures = 0;
  let kills = 0;
  try {
    const undisturbed = await killRound({ hosts, jobs: JOBS, killsAtMs: [] });
    if (undisturbed.wrong.length > 0) throw new Error(undisturbed.wrong.join("\n"));
    const spanMs = undisturbed.wallMs * STRETCH;
    console.log(`undisturbed: ${Math.round(undisturbed.wallMs)} ms; seed ${seed}`);
    for (let round = 1; round <= rounds; round++) {
      const times = random() < 0.3 ? 2 : 1;
      const killsAtMs = Array.from({ length: times }, () => Math.round(random() * spanMs));
      const outcome = await killRound({ hosts, jobs: JOBS, killsAtMs });
      for (const kind of outcome.killedAfter) killedAfter.set(kind, (killedAfter.get(kind) ?? 0) + 1);
      kills += outcome.killedAfter.length;
      if (outcome.wrong.length > 0) failures++;
      const what = outcome.killedAfter.map((kind) => `after ${kind}`).join(", ") || "was done before";
      const verdict = outcome.wrong.length === 0 ? "fine" : `WRONG\n${outcome.wrong.join("\n")}`;
      console.log(`round ${round}: killed at ${killsAtMs.join(" and ")} ms, ${what}: ${verdict}`);
    }
  } finally {
    await Promise.all(hosts.map((host) => host.stop()));
  }
  console.log(`${rounds} rounds, ${kills} kills, ${failures} rounds with anything lost, twice or left`);
  for (const [kind, count] of [...killedAfter].sort((a, b) => b[1] - a[1]))
    console.log(`  ${count} after ${kind}`);
  return failures;
}
