// Two accounts start batches at the same moment: no card that one job has alone is given to another, and jobs never declare
// more memory than there is. SSHOAL_TEST_ROUNDS sets how often; as root only.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isRoot } from "../../rig/account.js";
import { saveGpus } from "../../rig/gpus.js";
import { pidsWithHome } from "../../rig/processes.js";
import { until } from "../../rig/until.js";
import { makeWorkspace, type Workspace } from "../../rig/workspace.js";
import { type Home, makeHome, makeSpool, SHELLS, type Spool } from "./a-spool.js";

if (!isRoot)
  console.warn("SKIPPED: two accounts on one machine, since only root can start processes as both");

const ROUNDS = Number(process.env.SSHOAL_TEST_ROUNDS ?? 2);
const ACCOUNTS = [4711, 4712].map((uid) => ({ uid, gid: uid }));
const CARDS = [0, 1, 2];
const CARD = "GPU-00000000-0000-0000-0000-00000000000";
const JOBS = 5;

/** A card is a directory that only one job can make, and jobs at work are counted. "$GPU" has what processes hold. */
const JOB = `sh -c '
card=$CUDA_VISIBLE_DEVICES
mkdir "$GPU/card.$card" || echo "$card has two jobs" >>"$GPU/faults"
mkdir "$GPU/job.$$"
ls -d "$GPU"/job.* | wc -l >>"$GPU/counts"
echo "$card 20000" >"$GPU/held/$$"
/bin/sleep 0.15
rm "$GPU/held/$$"
rmdir "$GPU/job.$$" "$GPU/card.$card"
'`;

describe.skipIf(!isRoot).each(SHELLS.filter(([name]) => name !== "busybox"))("under %s", (_, shell) => {
  let shared: Workspace;
  let homes: Home[];
  let memoryMb: number;

  beforeEach(async () => {
    shared = await makeWorkspace();
    homes = await Promise.all(ACCOUNTS.map(() => makeHome(shell)));
    // A third of it for each job, so that two run, or three.
    memoryMb = Math.floor(availableMb() / 3.5);
    await chmod(shared.dir, 0o1777);
    await mkdir(shared.path("gpu/held"), { recursive: true });
    for (const dir of ["gpu", "gpu/held"]) await chmod(shared.path(dir), 0o777);
    for (const file of ["faults", "counts"]) {
      await writeFile(shared.path("gpu", file), "");
      await chmod(shared.path("gpu", file), 0o666);
    }
    saveGpus(shared.path("smi"), { gpus: CARDS.map(() => ({})), holders: shared.path("gpu/held") });
  });
  afterEach(async () => {
    for (const home of homes) await home.close();
    await shared.remove();
  });

  async function aSpoolOf(home: Home, at: number): Promise<Spool> {
    const account = ACCOUNTS[at] as (typeof ACCOUNTS)[number];
    const spool = await makeSpool(home, shell, { batch: `batch-${at}`, account });
    await spool.room([
      "cpu 64000 0",
      "keep 0 0 0",
      "jobs -",
      ...CARDS.map((index) => `card ${index} ${CARD}${index} nvidia 24576 24268 0 - -`),
      "slots 3",
    ]);
    await spool.need([`need ${memoryMb} 1000 0`, "cards 1 0 20000 750 1 * 0"]);
    for (const slot of CARDS) await spool.slot(slot);
    for (let job = 1; job <= JOBS; job += 1) await spool.job(`000000${job}-1`, JOB);
    execFileSync("chown", ["-R", `${account.uid}:${account.gid}`, home.dir]);
    return spool;
  }

  test(
    `${ROUNDS} rounds`,
    async () => {
      for (let round = 1; round <= ROUNDS; round += 1) {
        const spools = await Promise.all(homes.map(aSpoolOf));
        const env = {
          SSHOAL_CLAIMS: shared.dir,
          NVIDIA_SMI_STATE: shared.path("smi"),
          GPU: shared.path("gpu"),
        };
        const loops = spools.flatMap((spool) => CARDS.map((slot) => spool.start(slot, env)));
        for (const { ended } of loops) expect(await ended).toMatchObject({ log: "" });
        for (const spool of spools) await untilDone(spool);
        expect(await shared.read("gpu/faults")).toBe("");
        for (const home of homes) {
          await until("no process is left", () => pidsWithHome(home.dir).length === 0);
          execFileSync("rm", ["-rf", home.path(".sshoal")]);
        }
      }
      const counts = (await shared.read("gpu/counts")).trim().split("\n").map(Number);
      expect(counts).toHaveLength(ROUNDS * ACCOUNTS.length * JOBS);
      expect(Math.max(...counts)).toBeLessThanOrEqual(3);
      // Both accounts' directories were there.
      expect(readdirSync(shared.dir).filter((name) => name.startsWith(".sshoal-claims-"))).toHaveLength(2);
    },
    20_000 + ROUNDS * 30_000,
  );

  async function untilDone(spool: Spool): Promise<void> {
    for (let job = 1; job <= JOBS; job += 1)
      await spool.untilEvent(`ended 000000${job}-1`).then((line) => expect(line).toMatch(/ 0 \d+( |$)/));
  }
});

function availableMb(): number {
  return Number(/MemAvailable: +(\d+)/.exec(readFileSync("/proc/meminfo", "utf8"))?.[1]) / 1024;
}
