// Measures what several needs cost, how long a claim takes on a machine with many claims, and how soon freed room is used
// again.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, symlink } from "node:fs/promises";
import { runtimeFile } from "../src/remote/runtime-files.js";
import { saveGpus } from "../test/rig/gpus.js";
import { makeWorkspace } from "../test/rig/workspace.js";
import { claimDir } from "../test/unit/remote/a-claim.js";
import { HOST, type Home, makeHome, makeSpool, type Shell, type Spool } from "../test/unit/remote/a-spool.js";
import { compare, formatSeconds, formatSeries, type Row } from "./report.js";
import type { Rig } from "./rig.js";
import { type Series, summarize, takeTurns, timeOf } from "./rounds.js";

const CLAIMS = 50;
const LOOKS = 50;
const ROUNDS = 9;
const JOBS = 1000;
const DASH: Shell = { words: ["dash"] };
const CARD = "GPU-00000000-0000-0000-0000-000000000000";
const ROOM = ["cpu 64000 0", "keep 0 0 0", "jobs -", `card 0 ${CARD} nvidia 24576 24268 0 - -`];
const NEED = ["need 1 1000 0", "cards 1 0 1000 750 1 * 0"];
const KEYS = ["0000001-1", "0000002-1"] as const;

export async function room(rig: Rig): Promise<Row[]> {
  return [
    ...(await fourNeeds(rig)),
    limited(`a claim under the lock, with ${CLAIMS} claims on the machine, mawk`, await claimMs("mawk"), 5),
    limited(`a claim under the lock, with ${CLAIMS} claims on the machine, gawk`, await claimMs("gawk"), 5),
    limited(
      "a card that another batch of the account frees is used again",
      await reuseMs(freeByOurJob),
      1000,
    ),
    limited("a card that another process frees is used again", await reuseMs(freeByOther), 6000),
    { what: `${JOBS} × \`true\` in one slot`, ours: format(await manyMs()) },
  ];
}

/** Memory alone, where a claim for the largest need covers all; and needs of which none covers another. */
const NEEDS = {
  "four needs in turn": [
    "--memory-required 10",
    "--memory-required 20",
    "--memory-required 30",
    "--memory-required 40",
  ],
  "four needs in turn that do not contain each other": [
    "--memory-required 10 --num-cpus 0.4",
    "--memory-required 20 --num-cpus 0.3",
    "--memory-required 30 --num-cpus 0.2",
    "--memory-required 40 --num-cpus 0.1",
  ],
};

async function fourNeeds(rig: Rig): Promise<Row[]> {
  const one = await makeWorkspace({ "jobs.sh": "true\n".repeat(JOBS) });
  const rows: Row[] = [];
  for (const [what, needs] of Object.entries(NEEDS)) {
    const text = needs.map((need) => `#@ ${need}\ntrue\n`).join("");
    const several = await makeWorkspace({ "jobs.sh": text.repeat(JOBS / needs.length) });
    const taken = await takeTurns(what, 3, { peer: rig.ours(one.dir), ours: rig.ours(several.dir) });
    const [ours, peer] = [timeOf(taken.ours), timeOf(taken.peer)];
    rows.push(
      compare({
        what: `1,000 × \`true\`, ${what}`,
        ours,
        peer,
        peerName: "the same with one need",
        goal: 1.3,
      }),
    );
  }
  return rows;
}

function limited(what: string, times: Series, mostMs: number): Row {
  return {
    what,
    ours: format(times),
    goal: { text: `≤ ${formatSeconds(mostMs)}`, isMet: times.median <= mostMs },
  };
}

function format(times: Series): string {
  return formatSeries(times, formatSeconds);
}

/** Half of the claims are of another account, if root measures. */
async function claimMs(awk: string): Promise<Series> {
  return inHome(async (home) => {
    await symlink(`/usr/bin/${awk}`, home.path("bin/awk"));
    const spool = await makeSpool(home, DASH);
    await spool.room(ROOM);
    await spool.need(NEED);
    await spool.job(KEYS[0], "true");
    for (let claim = 0; claim < CLAIMS; claim++) await aClaim(home, claim);
    if (process.getuid?.() === 0) execFileSync("chown", ["-R", "4711:4711", home.path(claimDir(4711))]);
    await home.write("look.sh", timedClaims());
    saveGpus(home.path("nvidia-smi.state"), { gpus: [{}] });
    const output = execFileSync("dash", [home.path("look.sh"), spool.dir, "0"], {
      env: home.env,
      encoding: "utf8",
    });
    const [asking = [], held = []] = output
      .trim()
      .split("\n")
      .map((line) => line.split(" ").map((us) => Number(us) / 1000));
    const askingMs = summarize(asking).median;
    return summarize(held.map((ms) => ms - askingMs));
  });
}

/**
 * A slot that claims again and again. Prints how long it takes to ask for the time, and then how long it held the lock,
 * with the asking at the end: both in microseconds.
 */
function timedClaims(): string {
  const looks = `choose_job jobs/${KEYS[0]}; find_kind; chosen=
needs="need $key $kind $need_mb $need_cores $need_machine$need_lines"; find_dirs; measure
now_us() { echo $(($(date +%s%N) / 1000)); }
for look in $(seq ${LOOKS}); do from=$(now_us); printf '%s ' $(($(now_us) - from)); done; echo
for look in $(seq ${LOOKS}); do allot; printf '%s ' "$held_us"; done; echo`;
  return runtimeFile("slot.sh")
    .replace(/\n {2}take_locks\n {2}list_claims/, "\n  take_locks\n  now_us >locked\n  list_claims")
    .replace(/\n {4}free_locks\n/, "\n    to=$(now_us); read -r from <locked; held_us=$((to - from))$&")
    .replace(/\nmain\n$/, `\n${looks}\n`);
}

async function aClaim(home: Home, claim: number): Promise<void> {
  const uid = claim % 2 === 0 ? undefined : 4711;
  const lines = [
    "1 0.1 9 0.1 1 0 GPU-x",
    `by other 7 ${process.pid}`,
    `on GPU-${claim} 9 100 1000`,
    "end",
    "",
  ];
  await home.write(`${claimDir(uid)}/other@${HOST}.${claim}`, lines.join("\n"));
}

interface Waiting {
  readonly home: Home;
  readonly spool: Spool;
}

/** From the moment when the card is free until the waiting job has started. */
async function reuseMs(free: (waiting: Waiting) => Promise<() => Promise<void>>): Promise<Series> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) times.push(await inHome((home) => reuseOnce(home, free)));
  return summarize(times);
}

async function reuseOnce(home: Home, free: typeof freeByOther): Promise<number> {
  // Slots sleep as long as they do on a machine.
  await home.write("bin/sleep", '#!/bin/sh\nexec /bin/sleep "$1"\n');
  const spool = await makeSpool(home, DASH);
  await spool.room(ROOM);
  await spool.need(NEED);
  await spool.job(KEYS[0], "true");
  const end = await free({ home, spool });
  const loop = spool.start();
  await spool.untilEvent("waits ");
  // Somewhere between two looks.
  await once(spawn("sleep", [String(7 + Math.random())]), "close");
  await end();
  const freedAt = performance.now();
  await spool.untilEvent("started ");
  const took = performance.now() - freedAt;
  await loop.ended;
  return took;
}

async function freeByOther({ home }: Waiting): Promise<() => Promise<void>> {
  saveGpus(home.path("nvidia-smi.state"), { gpus: [{ memoryFree: 10 }] });
  return async () => saveGpus(home.path("nvidia-smi.state"), { gpus: [{}] });
}

async function freeByOurJob({ home }: Waiting): Promise<() => Promise<void>> {
  saveGpus(home.path("nvidia-smi.state"), { gpus: [{}] });
  const other = await makeSpool(home, DASH, { batch: "other" });
  await other.room(ROOM);
  await other.need(NEED);
  await other.job(KEYS[1], `until [ -e ${home.path("go")} ]; do /bin/sleep 0.02; done`);
  const loop = other.start();
  await other.untilEvent("started ");
  return async () => {
    await home.write("go", "");
    await loop.ended;
  };
}

async function manyMs(): Promise<Series> {
  const times: number[] = [];
  for (let round = 0; round < 3; round++)
    times.push(
      await inHome(async (home) => {
        const spool = await makeSpool(home, DASH);
        for (let job = 0; job < JOBS; job++) await spool.job(`${1_000_000 + job}-1`, "true");
        const begun = performance.now();
        await spool.run();
        return performance.now() - begun;
      }),
    );
  return summarize(times);
}

async function inHome<T>(work: (home: Home) => Promise<T>): Promise<T> {
  const home = await makeHome(DASH);
  await chmod(home.dir, 0o755);
  try {
    return await work(home);
  } finally {
    await home.close();
  }
}
