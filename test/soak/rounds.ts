// Many rounds of each kind, at times spread over the whole life of a batch. One line per round, then the totals.

import { startRelay } from "../rig/relay.js";
import { startSshd } from "../rig/sshd.js";
import { killRound } from "./kill-round.js";
import { seededRandom } from "./seeded.js";
import { type Site, type Trouble, troubleRound } from "./trouble-round.js";

/** How far the times reach beyond the end of an undisturbed run, because the following command may take longer. */
const STRETCH = 1.2;

export interface Rounds {
  readonly rounds: number;
  readonly seed: number;
}

/** Resolves with the number of rounds in which anything was wrong. */
export async function soak({ rounds, seed }: Rounds): Promise<number> {
  const hosts = await Promise.all([startSshd({ name: "one" }), startSshd({ name: "two" })]);
  const relays = await Promise.all(hosts.map((host) => startRelay(host.port)));
  const sites = hosts.flatMap((host, index) => {
    const relay = relays[index];
    return relay === undefined ? [] : [{ host, relay }];
  });
  try {
    const spanMs = STRETCH * (await undisturbedMs(sites));
    console.log(`an undisturbed batch takes ${Math.round(spanMs / STRETCH)} ms; seed ${seed}`);
    const random = seededRandom(seed);
    return (
      (await killRounds(sites, { rounds, spanMs, random })) +
      (await troubleRounds(sites, "cut", { rounds: Math.ceil(rounds / 2), spanMs, random })) +
      (await troubleRounds(sites, "reboot", { rounds: Math.ceil(rounds / 2), spanMs, random }))
    );
  } finally {
    await Promise.all(relays.map((relay) => relay.stop()));
    await Promise.all(hosts.map((host) => host.stop()));
  }
}

/** The quickest of three, because a fault after the end of a batch disturbs nothing. */
async function undisturbedMs(sites: readonly Site[]): Promise<number> {
  const took: number[] = [];
  for (let turn = 0; turn < 3; turn++) {
    const { wallMs, wrong } = await killRound({ hosts: sites.map(({ host }) => host), killsAtMs: [] });
    if (wrong.length > 0) throw new Error(wrong.join("\n"));
    took.push(wallMs);
  }
  return Math.min(...took);
}

interface Plan {
  readonly rounds: number;
  readonly spanMs: number;
  readonly random: () => number;
}

async function killRounds(sites: readonly Site[], { rounds, spanMs, random }: Plan): Promise<number> {
  const hosts = sites.map(({ host }) => host);
  const killedAfter = new Map<string, number>();
  let failures = 0;
  let kills = 0;
  for (let round = 1; round <= rounds; round++) {
    const killsAtMs = instants(random() < 0.3 ? 2 : 1, spanMs, random);
    const outcome = await killRound({ hosts, killsAtMs });
    for (const kind of outcome.killedAfter) killedAfter.set(kind, (killedAfter.get(kind) ?? 0) + 1);
    kills += outcome.killedAfter.length;
    if (outcome.wrong.length > 0) failures++;
    const what = outcome.killedAfter.map((kind) => `after ${kind}`).join(", ") || "was done before";
    console.log(`kill ${round}: at ${killsAtMs.join(" and ")} ms, ${what}: ${verdict(outcome.wrong)}`);
  }
  console.log(`${rounds} rounds, ${kills} kills, ${failures} rounds with anything lost, twice or left`);
  for (const [kind, count] of [...killedAfter].sort((a, b) => b[1] - a[1]))
    console.log(`  ${count} after ${kind}`);
  return failures;
}

async function troubleRounds(sites: readonly Site[], kind: Trouble["kind"], plan: Plan): Promise<number> {
  const { rounds, spanMs, random } = plan;
  let failures = 0;
  let count = 0;
  for (let round = 1; round <= rounds; round++) {
    const times = instants(1 + Math.floor(random() * 4), spanMs, random).sort((a, b) => a - b);
    const troubles = times.flatMap((ms, index) => {
      const site = sites[Math.floor(random() * sites.length)];
      return site === undefined ? [] : [{ site, kind, afterMs: ms - (times[index - 1] ?? 0) }];
    });
    const wrong = await troubleRound(sites, troubles);
    count += troubles.length;
    if (wrong.length > 0) failures++;
    console.log(`${kind} ${round}: at ${times.join(", ")} ms: ${verdict(wrong)}`);
  }
  console.log(`${rounds} rounds, up to ${count} times ${kind}, ${failures} rounds with anything wrong`);
  return failures;
}

function instants(count: number, spanMs: number, random: () => number): number[] {
  return Array.from({ length: count }, () => Math.round(random() * spanMs));
}

function verdict(wrong: readonly string[]): string {
  return wrong.length === 0 ? "fine" : `WRONG\n${wrong.join("\n")}`;
}
