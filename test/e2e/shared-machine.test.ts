// A machine that others use, too: two accounts at once, processes that come and go, what is kept for people, --polite.

import { readFileSync, statSync, writeFileSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { getPriority } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { isRoot } from "../rig/account.js";
import { LIGHT, listBelow, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { killAll } from "../rig/processes.js";
import { type SharedMachine, startSharedMachine } from "../rig/shared-machine.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";
import { CARDS, roomRound } from "../soak-room/round.js";

if (!isRoot) console.warn("SKIPPED: a machine of two accounts, since only root can let both in");

describe.skipIf(!isRoot)("a shared machine", () => {
  let machine: SharedMachine;
  let work: Workspace;

  beforeAll(async () => {
    machine = await startSharedMachine(Array(CARDS).fill({}));
  });
  beforeEach(async () => {
    work = await makeWorkspace();
  });
  afterEach(async () => {
    killAll(machine.ada.pids());
    await rm(join(machine.ada.homeDir, ".sshoal"), { recursive: true, force: true });
    await work.remove();
  });
  afterAll(() => machine?.stop());

  // With 2, no account may open the files of another one for writing in a directory like /tmp or /dev/shm.
  test.each(["0", "2"])("two accounts start at the same moment, fs.protected_regular=%s", async (value) => {
    protectRegular(value);
    for (let round = 1; round <= 2; round++) expect(await roomRound(machine)).toEqual([]);
    const left = listBelow(machine.shared.path("claims"));
    expect(left.filter((path) => path.includes("@"))).toEqual([]);
  });

  /** A setting of the whole system. Containers may not change it; then it stays as it is. */
  function protectRegular(value: string): void {
    const file = "/proc/sys/fs/protected_regular";
    const before = readFileSync(file, "utf8");
    try {
      writeFileSync(file, value);
    } catch {
      console.warn(`fs.protected_regular stays ${before.trim()}, since it cannot be set here`);
      return;
    }
    onTestFinished(() => writeFileSync(file, before));
  }

  /** Jobs that note their cards in "log", each until "go.<job>" is there. */
  async function startBatch(count: number, file: string, extra: readonly string[] = []) {
    const job = `echo $SSHOAL_JOB $CUDA_VISIBLE_DEVICES >>${work.path("log")}; ${waitFor(work.path("go.'$SSHOAL_JOB'"))}`;
    await work.write("jobs.sh", `${job}\n`.repeat(count));
    const args = ["jobs.sh", "--machines", await machine.ada.machineFile(file), ...LIGHT, ...extra];
    const client = spawnCommand(args, { cwd: work.dir });
    onTestFinished(() => void client.child.kill("SIGKILL"));
    return { client, args };
  }

  async function holdCard(card: number, mb: number) {
    const process = await machine.holdCard(card, mb);
    onTestFinished(() => process.end());
    return process;
  }

  const begun = async () =>
    (await work.read("log").catch(() => "")).split("\n").flatMap((line) => line.split(" ")[1] ?? []);
  const untilBegun = (...cards: string[]) =>
    until(`begun on ${cards}`, async () => `${await begun()}` === `${cards}`).catch(async (error) => {
      throw new Error(`${error.message}, but on ${await begun()}`);
    });
  const go = (...jobs: number[]) => Promise.all(jobs.map((job) => work.write(`go.jobs.sh.${job}`, "")));

  /** Awaits that a slot looked after this call, and found no room for a reason that has these words. */
  async function untilRefused(words: string): Promise<void> {
    const before = (await waitLines(words)).length;
    await until(`refused: ${words}`, async () => (await waitLines(words)).length > before);
  }
  async function waitLines(words: string): Promise<string[]> {
    const spool = join(machine.ada.homeDir, ".sshoal/batches");
    const logs = listBelow(spool).filter((path) => /slots\/\d+\/events$/.test(path));
    const texts = await Promise.all(logs.map((path) => readFile(join(spool, path), "utf8")));
    return texts.flatMap((text) => text.split("\n")).filter((line) => line.includes(words));
  }

  /** A slot keeps its claim for the next job if it looked at the cards in the last two seconds. */
  async function untilClaimsAreOld(): Promise<void> {
    const claims = machine.shared.path("claims");
    const files = listBelow(claims).filter((path) => path.includes("@"));
    const ages = () => files.map((path) => Date.now() - statSync(join(claims, path)).mtimeMs);
    await until("all claims are older than two seconds", () => Math.min(...ages()) > 2100);
  }

  test("another person's process: nothing starts on its card, and the batch grows when it leaves", async () => {
    machine.install([{}, {}]);
    const first = await holdCard(0, 23_500);
    const { client, args } = await startBatch(6, "");
    await untilBegun("1");
    await client.until(({ stderr }) => stderr().includes("; card 0: 768 MB free of 24576, needs 1000"));
    // While a client follows.
    await first.end();
    await untilBegun("1", "0");
    // Without a client: it comes while a job runs, and keeps the next one from its card.
    client.child.kill("SIGKILL");
    await client.ended;
    const second = await holdCard(0, 23_500);
    await untilClaimsAreOld();
    await Promise.all([go(2), untilRefused("card:0:memory:1000:768:24576")]);
    expect(await begun()).toEqual(["1", "0"]);
    await go(1);
    await untilBegun("1", "0", "1");
    await second.end();
    await untilBegun("1", "0", "1", "0");
    await go(3, 4, 5, 6);
    const again = await runCommand(args, { cwd: work.dir });
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining("6 succeeded, 0 failed")]);
  });

  test("keep_free leaves a card that no process uses, also after others have left", async () => {
    machine.install([{}, {}, {}]);
    const other = await holdCard(2, 23_500);
    const { client } = await startBatch(4, "keep_free: {gpus: 1}");
    await untilBegun("0");
    await client.until(({ stderr }) => stderr().includes("card 1: kept free for people"));
    await other.end();
    await until("a second has begun", async () => (await begun()).length === 2);
    const why = await runCommand(["why", "3"], { program: "sshoal", cwd: work.dir });
    expect(why.stdout).toMatch(/card [12] +kept free for people/);
    expect(await begun()).toHaveLength(2);
    await go(1, 2, 3, 4);
    expect((await client.ended).code).toBe(0);
  });

  test("--polite: jobs are nice, one card stays free, and none shares a card with another person", async () => {
    machine.install([{}, {}, {}]);
    await holdCard(0, 10);
    const shared = ["--polite", "--no-reserve-gpu", "--gpu-utilization", "0.1"];
    const { client } = await startBatch(2, "", shared);
    await untilBegun("1", "1");
    await go(1, 2);
    expect((await client.ended).code).toBe(0);
    const nicer = Math.min(19, getPriority() + 10);
    await work.write("jobs.sh", "nice\n#@ --no-gpu-required\nnice\n");
    for (const file of ["", "plain_slots: true"]) {
      const args = ["jobs.sh", "--machines", await machine.ada.machineFile(file), ...LIGHT, "--polite"];
      const { code } = await runCommand([...args, "--rerun", "all"], { cwd: work.dir });
      expect(code).toBe(0);
      for (const line of [1, 3])
        expect(await work.read(`job_results/jobs.sh.${line}.out`)).toBe(`${nicer}\n`);
    }
  });
});
