// sshoal why, word for word, in situations that are played on a machine of two accounts. Plain lines, status and the live
// view have the same reasons.

import { readdirSync, readFileSync } from "node:fs";
import { chmod, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { isRoot } from "../rig/account.js";
import { LIGHT, parseEvents, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { killAll } from "../rig/processes.js";
import { type SharedMachine, startSharedMachine } from "../rig/shared-machine.js";
import { runOnTerminal } from "../rig/terminal.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

if (!isRoot) console.warn("SKIPPED: why on a machine of two accounts, since only root can let both in");

describe.skipIf(!isRoot)("why", () => {
  let machine: SharedMachine;
  let work: Workspace;

  beforeAll(async () => {
    machine = await startSharedMachine([{}]);
  });
  beforeEach(async () => {
    work = await makeWorkspace();
    await chmod(work.dir, 0o777);
  });
  afterEach(async () => {
    for (const host of [machine.ada, machine.bob]) {
      killAll(host.pids());
      await rm(join(host.homeDir, ".sshoal"), { recursive: true, force: true });
    }
    // The answer of the driver counts for two seconds.
    for (const dir of readdirSync(machine.shared.path("claims")))
      await rm(machine.shared.path("claims", dir), { recursive: true });
    await work.remove();
  });
  afterAll(() => machine?.stop());

  /** Starts a batch of these lines; {wait} in them is a job that notes its start and never ends. */
  async function start(
    lines: readonly string[],
    file: string,
    args: readonly string[],
    host = machine.ada,
    script = "jobs.sh",
  ) {
    const job = `touch ${work.dir}/begun.$SSHOAL_JOB; ${waitFor(work.path("never"))}`;
    await work.write(
      `${host.name}/${script}`,
      lines.map((line) => `${line.replace("{wait}", job)}\n`).join(""),
    );
    const words = [script, "--machines", await host.machineFile(file), ...args];
    const client = spawnCommand(words, { cwd: work.path(host.name), home: work.dir });
    onTestFinished(() => void client.child.kill("SIGKILL"));
    return client;
  }

  async function hold(card: number, mb: number): Promise<void> {
    const process = await machine.holdCard(card, mb);
    onTestFinished(() => process.end());
  }

  const begun = (job: string) =>
    until(`${job} has begun`, () =>
      work.read(`begun.${job}`).then(
        () => true,
        () => false,
      ),
    );

  const opts = () => ({ program: "sshoal", cwd: work.path("ada"), home: work.dir }) as const;

  /** Its lines; numbers of this computer become N. */
  async function why(...args: string[]): Promise<string[]> {
    const { code, stdout, stderr } = await runCommand(["why", ...args], opts());
    expect(code, stderr).toBe(0);
    return stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.replace(/\d+(\.\d+)? GB( free of | of )[\d.]+/, "N$2N"));
  }

  test("another account's job, another person's process, an excluded card, and a job of the same batch", async () => {
    machine.install([{}, {}, {}, {}]);
    await start(["{wait}"], "", [...LIGHT, "--gpus", "0"], machine.bob, "other.sh");
    await begun("other.sh.1");
    await hold(1, 22_528);
    const client = await start(["{wait}", "true"], "exclude_gpus: [3]", [
      ...LIGHT,
      "--gpu-memory-required",
      "10GB",
    ]);
    await begun("jobs.sh.1");
    const reason =
      "card 2 runs job 1; card 0 runs 4712's other.sh 1; card 1: 1.6 GB free of 24, needs 10; card 3: excluded";
    await client.until(({ stderr }) => stderr().includes(`waiting: ada.yaml; ${reason}\n`));
    const file = join(machine.ada.dir, "ada.yaml");
    expect(await why()).toEqual([
      "2 waits: needs 1 card with 10 GB, 0.01 cores, 1 MB",
      "ada.yaml  card 2  runs job 1",
      "          card 0  runs 4712's other.sh 1",
      "          card 1  N free of N, needs 10: root's sleep 22 GB",
      `          card 3  excluded by ${file}`,
      "1.6 GB per card would start it now.",
    ]);
    const status = await runCommand(["status"], opts());
    expect(status.stdout).toContain(`  ada.yaml: ${reason}\n`);
    expect(status.stdout).toMatch(/running +1 +ada\.yaml:2 /);
    client.child.kill("SIGKILL");
    await client.ended;
    const terminal = runOnTerminal(["attach"], {
      ...opts(),
      env: { NO_COLOR: "1" },
      size: { rows: 30, columns: 160 },
    });
    await terminal.shows(/waits: card 2 runs job 1; card 0 runs 4712's other\.sh 1; card 1: 1\.6 GB/);
    await terminal.shows(new RegExp(`2 +waits +\\d+s +ada\\.yaml: ${reason}`));
    terminal.type("d");
    expect(await terminal.ended).toBe(0);
  });

  test("host memory", async () => {
    const needMb = Math.floor(totalMemoryMb() * 0.498);
    const args = ["--no-gpu-required", "--num-cpus", "0.01", "--memory-required", String(needMb)];
    const client = await start(["{wait}", "{wait}"], "", args);
    await client.until(({ stderr }) =>
      /waiting: ada.yaml; memory: [\d.]+ GB free, needs [\d.]+\n/.test(stderr()),
    );
    const [head, row] = await why();
    expect(head).toMatch(/^[12] waits: needs 0\.01 cores, [\d.]+ GB$/);
    expect(row).toMatch(
      /^ada\.yaml {2}memory {2}N free of N, needs [\d.]+: jobs declared [\d.]+ GB that they do not use yet$/,
    );
  });

  test("max_jobs", async () => {
    machine.install([{}, {}, {}]);
    await start(["{wait}", "true"], "max_jobs: 1", LIGHT);
    await begun("jobs.sh.1");
    await until("it is told", async () => (await why())[1] === "ada.yaml  1 job runs, at most 1 (max_jobs)");
  });

  test("--polite: a card for people, and another person's process", async () => {
    machine.install([{}, {}, {}]);
    await hold(2, 10);
    await start(["{wait}", "true"], "", [...LIGHT, "--polite"]);
    await begun("jobs.sh.1");
    expect(await why("2")).toEqual([
      "2 waits: needs 1 card with 1000 MB, 0.01 cores, 1 MB",
      "ada.yaml  card 0  runs job 1",
      "          card 1  kept free for people",
      "          card 2  root's sleep is on it, and the batch is polite",
    ]);
  });

  test("what an earlier job waits for, and needs that no machine can ever meet", async () => {
    machine.install([{}, {}]);
    const lines = ["{wait}", "#@ --gpus-per-job 2", "true", "true", "#@ --gpus-per-job 3", "true"];
    const client = await start([...lines, "#@ --gpu-memory-required 40GB", "true"], "", LIGHT);
    await begun("jobs.sh.1");
    await client.until(({ stderr }) => stderr().includes("kept for job 3, which waits longer"));
    expect((await why()).filter(Boolean).map((line) => line.replace(/card [01]/, "card N"))).toEqual([
      "3 waits: needs 2 cards with 1000 MB, 0.01 cores, 1 MB",
      "ada.yaml  card N  runs job 1",
      "          1 card fits, needs 2",
      "1 card would start it now.",
      "4 waits: needs 1 card with 1000 MB, 0.01 cores, 1 MB",
      "ada.yaml  kept for job 3, which waits longer",
      "6 waits: needs 3 cards with 1000 MB, 0.01 cores, 1 MB",
      "ada.yaml  2 cards fit, needs 3",
      "No machine can ever run it. 2 cards would fit on ada.yaml.",
      "8 waits: needs 1 card with 40 GB, 0.01 cores, 1 MB",
      "ada.yaml  cards 0-1  24 GB in all, needs 40",
      "No machine can ever run it. 24 GB per card would fit on ada.yaml.",
    ]);
    const json = parseEvents((await runCommand(["why", "--json"], opts())).stdout);
    expect(
      json.map(({ name, machines }) => [name, machines[0].isNever, machines[0].shortages]),
    ).toMatchObject([
      ["jobs.sh.3", false, [{ kind: "gpus", needed: 2, available: 1 }]],
      ["jobs.sh.4", false, [{ kind: "kept" }]],
      ["jobs.sh.6", true, [{ kind: "gpus", needed: 3, available: 2 }]],
      ["jobs.sh.8", true, [{ kind: "gpus", needed: 1, available: 0 }]],
    ]);
    const { stdout } = await runCommand(["status"], opts());
    expect(stdout).toMatch(/waiting +3 +\d+s {2}ada\.yaml: card [01] runs job 1; 1 card fits, needs 2\n/);
    expect(stdout).toMatch(/waiting +4 +\d+s {2}ada\.yaml: kept for job 3, which waits longer\n/);
  });
});

function totalMemoryMb(): number {
  return Number(/MemTotal: +(\d+)/.exec(readFileSync("/proc/meminfo", "utf8"))?.[1]) / 1024;
}
