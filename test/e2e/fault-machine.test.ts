// A machine is gone for long, for good, or comes back when its jobs are on another machine; or it is only slow.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { LIGHT_NO_GPU, parseEvents, waitFor } from "../rig/batch.js";
import { type LiveCommand, runCommand, spawnCommand } from "../rig/command.js";
import { type Ledger, openLedger, sweep } from "../rig/ledger.js";
import { killAll } from "../rig/processes.js";
import { type Relay, startRelay } from "../rig/relay.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";

let gone: TestHost;
let other: TestHost;
let relay: Relay;
let ledger: Ledger;

beforeAll(async () => {
  [gone, other] = await Promise.all([startSshd({ name: "gone" }), startSshd({ name: "other" })]);
});
beforeEach(async () => {
  [relay, ledger] = await Promise.all([startRelay(gone.port), openLedger()]);
});
afterEach(async () => {
  await sweep(gone, other);
  await relay.stop();
  await ledger.remove();
});
afterAll(() => Promise.all([gone?.stop(), other?.stop()]));

/** One slot on each machine: lines are dealt in turn, the first to the machine that will be gone. */
async function batchArgs(...more: string[]): Promise<string[]> {
  const machines = [await gone.machineFile("max_jobs: 1", relay), await other.machineFile("max_jobs: 1")];
  return ["jobs.sh", "--machines", ...machines, ...LIGHT_NO_GPU, ...more];
}

/** A job that waits for a file on this machine. */
function heldOn(host: TestHost, file: string): string {
  return ledger.job(`[ $SSHOAL_MACHINE != ${host.name}.yaml ] || ${waitFor(ledger.seen.path(file))}`);
}

async function untilBegun(...lines: number[]): Promise<void> {
  await until(`lines ${lines} run`, async () => {
    const runs = await ledger.runs();
    return lines.every((line) => runs.has(line));
  });
}

function lose(): void {
  relay.refuse();
  relay.cut();
}

describe("a machine that is gone for good", () => {
  test("loses its waiting jobs to another; its begun jobs are unfinished, and reported as such", async () => {
    await ledger.write(Array.from({ length: 6 }, () => heldOn(gone, "never")));
    const client = spawnCommand(await batchArgs("--reassign-after", "1s"), { cwd: ledger.work.dir });
    await client.until(({ stdout }) => stdout().includes("started: jobs.sh.1;"));
    lose();
    const { code, stdout, stderr } = await client.ended;
    expect(stderr).toMatch(
      /WARNING: gone\.yaml is still unreachable; moving its \d waiting jobs? to other machines/,
    );
    expect(stdout).toContain("5 succeeded, 0 failed, 1 unfinished in");
    expect(stdout).toContain("  jobs.sh.1  running on gone.yaml when last seen\n");
    expect(code).toBe(1);
    expect([...(await ledger.runs()).values()]).toEqual([1, 1, 1, 1, 1, 1]);
  });

  test("between two clients: the next one also gives its waiting jobs away", async () => {
    await ledger.write(Array.from({ length: 6 }, () => heldOn(gone, "never")));
    const args = await batchArgs("--reassign-after", "1s");
    const first = spawnCommand(args, { cwd: ledger.work.dir });
    await first.until(({ stdout }) => stdout().includes("started: jobs.sh.1;"));
    first.child.kill("SIGTERM");
    await first.ended;
    lose();
    const { code, stdout, stderr } = await runCommand(args, { cwd: ledger.work.dir });
    expect(stderr).toMatch(/WARNING: the link to gone\.yaml is lost: /);
    // Jobs that the first client had collected are skipped.
    expect(stdout, stderr).toMatch(
      /^(5 succeeded, 0 failed|4 succeeded, 0 failed, 1 skipped), 1 unfinished in/m,
    );
    expect(code).toBe(1);
    expect([...(await ledger.runs()).values()]).toEqual([1, 1, 1, 1, 1, 1]);
  });

  test("if only cleaning up is left: the run does not wait for it, and the next client does it", async () => {
    await ledger.write([ledger.job(), heldOn(other, "go")]);
    const args = await batchArgs();
    const client = spawnCommand(args, { cwd: ledger.work.dir });
    await client.until(({ stdout }) => stdout().includes("finished: jobs.sh.1;"));
    lose();
    await client.until(({ stderr }) => stderr().includes("the link to gone.yaml is lost"));
    await ledger.seen.write("go", "");
    const { code, stdout, stderr } = await client.ended;
    expect(stderr).toContain("WARNING: gone.yaml is unreachable; to remove the batch's files from it");
    expect(code, stdout + stderr).toBe(0);
    relay.accept();
    const again = await runCommand(args, { cwd: ledger.work.dir });
    expect(again.code, again.stderr).toBe(0);
    expect(await ledger.audit([gone, other])).toEqual([]);
  });
});

describe("a machine that comes back", () => {
  /**
   * It has begun line 1, and line 4 waits there. The other machine has two slots, and has begun lines 2 and 3. Each
   * line waits for a file; line 4 for another one on each machine.
   */
  async function loseWithFour(): Promise<LiveCommand> {
    const { seen } = ledger;
    const waits = ["go-1", "go-2", "go-3", "go-4-$SSHOAL_MACHINE"].map((name) => waitFor(seen.path(name)));
    await ledger.write(waits.map((wait) => ledger.job(wait.replaceAll("'", '"'))));
    const client = spawnCommand(await argsForFour(), { cwd: ledger.work.dir });
    await untilBegun(1, 2, 3);
    await client.until(({ stdout }) => stdout().split('"kind":"job-started"').length > 3);
    lose();
    return client;
  }

  async function argsForFour(): Promise<string[]> {
    const machines = [await gone.machineFile("max_jobs: 1", relay), await other.machineFile("max_jobs: 2")];
    return ["jobs.sh", "--machines", ...machines, ...LIGHT_NO_GPU, "--reassign-after", "1s", "--json"];
  }

  async function release(...names: string[]): Promise<void> {
    for (const name of names) await ledger.seen.write(`go-${name}`, "");
  }

  /** While it is away it ends line 1 and begins line 4, which the client does not know when it gives it to the other one. */
  async function beginFourUnseen(client: LiveCommand): Promise<void> {
    await release("1");
    await untilBegun(4);
    await client.until(has("jobs-reassigned"));
    await release("3");
    await until("the other one has begun it, too", async () => (await ledger.runs()).get(4) === 2);
  }

  const has = (kind: string, line?: number) => (client: LiveCommand) =>
    wholeEvents(client).some((event) => event.kind === kind && (line === undefined || event.job === line));
  const twice = { runs: new Map([[4, 2]]), besides: ["jobs.sh.4.again-2"] };

  test("before another machine began its waiting jobs: they run once", async () => {
    const client = await loseWithFour();
    await client.until(has("jobs-reassigned"));
    relay.accept();
    await client.until(has("machine-back"));
    await client.until(has("jobs-taken-back"));
    await release("1", "2", "3", "4-gone.yaml", "4-other.yaml");
    const { code, stderr } = await client.ended;
    expect(await ledger.audit([gone, other]), stderr).toEqual([]);
    expect(code).toBe(0);
  });

  test("after it began a job that another machine has done: the first result counts, its own gets another name", async () => {
    const client = await loseWithFour();
    await beginFourUnseen(client);
    await release("4-other.yaml");
    await client.until(has("job-collected", 4));
    relay.accept();
    await client.until(has("machine-back"));
    await release("2", "4-gone.yaml");
    const { code, stdout, stderr } = await client.ended;
    expect(await ledger.audit([gone, other], twice), stdout + stderr).toEqual([]);
    expect(code).toBe(0);
  });

  test("with the result of a job that another machine still runs: that one counts, the other gets another name", async () => {
    const client = await loseWithFour();
    await beginFourUnseen(client);
    await release("4-gone.yaml");
    relay.accept();
    await client.until(has("job-collected", 4));
    await release("2", "4-other.yaml");
    const { code, stdout, stderr } = await client.ended;
    const collected = wholeEvents(client).filter(({ kind, job }) => kind === "job-collected" && job === 4);
    expect(collected.map(({ machine }) => machine)).toEqual(["gone.yaml", "other.yaml"]);
    // Some output of the other machine may have arrived already.
    const isKept = (text: string) => /jobs\.sh\.4\.(out|err)\.old-1$/.test(text);
    const wrong = (await ledger.audit([gone, other], twice)).filter((text) => !isKept(text));
    expect(wrong, stdout + stderr).toEqual([]);
    expect(code).toBe(0);
  });

  test("after the client that gave its jobs away was killed", async () => {
    const client = await loseWithFour();
    await beginFourUnseen(client);
    await release("4-other.yaml");
    await client.until(has("job-collected", 4));
    client.child.kill("SIGKILL");
    await client.ended;
    relay.accept();
    await release("2", "4-gone.yaml");
    const { code, stdout, stderr } = await runCommand(await argsForFour(), { cwd: ledger.work.dir });
    expect(await ledger.audit([gone, other], twice), stdout + stderr).toEqual([]);
    expect(code).toBe(0);
  });

  test("rebooted, with a lost job that another machine runs: that one is the result", async () => {
    const client = await loseWithFour();
    await beginFourUnseen(client);
    killAll(gone.pids());
    relay.accept();
    await client.until(has("job-collected", 4));
    await release("2", "4-other.yaml");
    const { code, stdout, stderr } = await client.ended;
    // Line 1 had ended before.
    const wrong = await ledger.audit([gone, other], twice);
    // The lost one had printed nothing. Some output of the other machine may have arrived already.
    const isKept = (text: string) =>
      /jobs\.sh\.4\.again-2(\/made\.txt|\.err|\.out) is /.test(text) ||
      /jobs\.sh\.4\.(out|err)\.old-1$/.test(text);
    expect(
      wrong.filter((text) => !isKept(text)),
      stdout + stderr,
    ).toEqual([]);
    expect(code).toBe(0);
  });
});

function wholeEvents(client: LiveCommand) {
  const text = client.stdout();
  return parseEvents(text.slice(0, text.lastIndexOf("\n") + 1));
}

describe("a slow machine", () => {
  test("loses its waiting jobs to a machine without work", async () => {
    await ledger.write(Array.from({ length: 10 }, () => heldOn(gone, "go")));
    const client = spawnCommand(await batchArgs(), { cwd: ledger.work.dir });
    await client.until(({ stdout }) => stdout().match(/^finished: /gm)?.length === 9);
    await ledger.seen.write("go", "");
    const { code, stderr } = await client.ended;
    expect(await ledger.audit([gone, other]), stderr).toEqual([]);
    expect(code).toBe(0);
  });

  test("loses waiting jobs to a machine that is new in the batch", async () => {
    await ledger.write(Array.from({ length: 6 }, () => heldOn(gone, "go")));
    const alone = await gone.machineFile("max_jobs: 1", relay);
    const detached = ["jobs.sh", "--machines", alone, ...LIGHT_NO_GPU, "--detach"];
    expect((await runCommand(detached, { cwd: ledger.work.dir })).code).toBe(0);
    await untilBegun(1);
    const client = spawnCommand(await batchArgs(), { cwd: ledger.work.dir });
    await client.until(({ stdout }) => stdout().match(/^finished: /gm)?.length === 5);
    await ledger.seen.write("go", "");
    const { code, stderr } = await client.ended;
    expect(await ledger.audit([gone, other]), stderr).toEqual([]);
    expect(code).toBe(0);
  });

  test("a client that is killed while it takes jobs back loses none", async () => {
    // Twice as many as are taken back at a time, so that it happens more than once.
    await ledger.write(Array.from({ length: 12 }, () => heldOn(gone, "go")));
    const args = await batchArgs("--json");
    for (const times of [1, 1]) {
      const client = spawnCommand(args, { cwd: ledger.work.dir });
      await client.until(({ stdout }) => stdout().split('"kind":"jobs-taken-back"').length > times);
      client.child.kill("SIGKILL");
      await client.ended;
    }
    await ledger.seen.write("go", "");
    const { code, stderr } = await runCommand(args, { cwd: ledger.work.dir });
    expect(await ledger.audit([gone, other]), stderr).toEqual([]);
    expect(code).toBe(0);
  });
});
