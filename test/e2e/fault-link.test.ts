// The connection is reset, refused, cut in the middle of something, or becomes silent: the client notices and recovers
// by itself, and jobs never notice.

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { listBelow, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";

import { useRelayedHost } from "../rig/relayed-host.js";
import { makeKey } from "../rig/sshd.js";
import { until } from "../rig/until.js";

const rig = useRelayedHost();

const seesKind =
  (kind: string, times = 1) =>
  ({ stdout }: { stdout(): string }) =>
    stdout().split(`"kind":"${kind}"`).length > times;

describe("a connection that is reset", () => {
  test("while jobs run and wait, repeatedly", async () => {
    const { seen } = rig.ledger;
    await rig.ledger.write(
      Array.from({ length: 6 }, (_, index) => rig.ledger.job(waitFor(seen.path(`go-${index >> 1}`)))),
    );
    const client = spawnCommand(await rig.batchArgs("--json"), { cwd: rig.ledger.work.dir });
    for (const turn of [1, 2, 3]) {
      await client.until(seesKind("job-started", 2 * turn));
      rig.relay.cut();
      await client.until(seesKind("machine-back", turn));
      await seen.write(`go-${turn - 1}`, "");
    }
    const { code, stderr } = await client.ended;
    expect(await rig.ledger.audit([rig.host]), stderr).toEqual([]);
    expect(code).toBe(0);
  });

  test("each time as soon as it is open", async () => {
    await rig.ledger.write(
      Array.from({ length: 4 }, () => rig.ledger.job(waitFor(rig.ledger.seen.path("go")))),
    );
    const client = spawnCommand(await rig.batchArgs("--json"), { cwd: rig.ledger.work.dir });
    await client.until(seesKind("job-started", 2));
    for (const bytes of [0, 1000, 3000, 5000, 7000]) {
      const isCut = new Promise<void>((resolve) => rig.relay.cutAfter(bytes, resolve));
      rig.relay.cut();
      await isCut;
    }
    await client.until(seesKind("machine-back"));
    await rig.ledger.seen.write("go", "");
    const { code, stderr } = await client.ended;
    expect(await rig.ledger.audit([rig.host]), stderr).toEqual([]);
    expect(code).toBe(0);
  });

  test.each([0, 1000])(
    "during the first login, after %i bytes: that is retried, a limited number of times",
    async (bytes) => {
      await rig.ledger.write([rig.ledger.job()]);
      const isCut = new Promise<void>((resolve) => rig.relay.cutAfter(bytes, resolve));
      const client = spawnCommand(await rig.batchArgs("--json"), { cwd: rig.ledger.work.dir });
      await isCut;
      expect((await client.ended).code).toBe(0);
      expect(await rig.ledger.audit([rig.host])).toEqual([]);
      const before = rig.relay.connections();
      const cutAlways = () => rig.relay.cutAfter(bytes, cutAlways);
      cutAlways();
      await rig.ledger.write([rig.ledger.job(), rig.ledger.job()]);
      const { code, stdout } = await spawnCommand(await rig.batchArgs("--json"), { cwd: rig.ledger.work.dir })
        .ended;
      rig.relay.cutAfter(Number.POSITIVE_INFINITY, () => {});
      expect(code).toBe(3);
      expect(stdout).toMatch(/dropped the connection|closed the connection before the login was done/);
      expect(rig.relay.connections()).toBe(before + 3);
    },
  );

  test("and refused for a while: jobs that ended in the meantime are collected", async () => {
    await rig.ledger.write(
      Array.from({ length: 5 }, () => rig.ledger.job(waitFor(rig.ledger.seen.path("go")))),
    );
    const client = spawnCommand(await rig.batchArgs("--json"), { cwd: rig.ledger.work.dir });
    await client.until(seesKind("job-started", 2));
    rig.relay.refuse();
    rig.relay.cut();
    await client.until(seesKind("machine-lost"));
    await rig.ledger.seen.write("go", "");
    const before = rig.relay.connections();
    await until("all have run, and the client tried to come back", async () => {
      return (await rig.ledger.runs()).size === 5 && rig.relay.connections() >= before + 3;
    });
    expect(seesKind("job-ended")(client)).toBe(false);
    rig.relay.accept();
    const { code, stderr } = await client.ended;
    expect(await rig.ledger.audit([rig.host]), stderr).toEqual([]);
    expect(code).toBe(0);
  });

  test("before the first client has looked at the machine", async () => {
    await rig.ledger.write([rig.ledger.job(), rig.ledger.job()]);
    const cuts: Promise<void>[] = [];
    // The login alone takes about 3000 bytes, the probe's script about 15000.
    cuts.push(new Promise((resolve) => rig.relay.cutAfter(6000, resolve)));
    const { code, stdout, stderr } = await runCommand(await rig.batchArgs("--json"), {
      cwd: rig.ledger.work.dir,
    });
    await Promise.all(cuts);
    expect(stdout).toContain('"kind":"machine-lost"');
    expect(await rig.ledger.audit([rig.host]), stderr).toEqual([]);
    expect(code).toBe(0);
  });
});

describe("a cut in the middle", () => {
  test("of the working directory: half a tree is never mistaken for a whole one", async () => {
    for (let index = 0; index < 60; index++)
      await rig.ledger.work.write(`in/${index}`, Buffer.alloc(512 * (index % 7), index));
    const check = `[ $(ls in | wc -l) = 60 ] && [ $(cat in/* | wc -c) = ${countBytes(60)} ]`;
    await rig.ledger.write([rig.ledger.job(`${check} || exit 9`), rig.ledger.job(`${check} || exit 9`)]);
    const client = spawnCommand(await rig.batchArgs("--json"), { cwd: rig.ledger.work.dir });
    // While the tree is sent: after login and probe, about 20 kB, come 90 kB of it.
    for (const bytes of [40_000, 60_000, 80_000, 70_000, 50_000])
      await new Promise<void>((resolve) => rig.relay.cutAfter(bytes, resolve));
    const { code, stderr } = await client.ended;
    expect(await rig.ledger.audit([rig.host]), stderr).toEqual([]);
    expect(code).toBe(0);
  });

  test("of a hand-over: every job arrives, and none twice", async () => {
    await rig.ledger.write(Array.from({ length: 100 }, () => rig.ledger.job()));
    const client = spawnCommand(await rig.batchArgs("--json"), { cwd: rig.ledger.work.dir });
    for (const bytes of [30_000, 60_000, 90_000, 120_000, 150_000])
      await new Promise<void>((resolve) => rig.relay.cutAfter(bytes, resolve));
    const { code, stderr } = await client.ended;
    expect(await rig.ledger.audit([rig.host]), stderr).toEqual([]);
    expect(code).toBe(0);
  });

  test("of an archive of results: half of it is never mistaken for a result", async () => {
    await rig.ledger.write([
      rig.ledger.job("head -c 40000000 /dev/urandom > big.bin; sha256sum big.bin > sum"),
    ]);
    const incoming = () => listBelow(rig.ledger.work.path("job_results/.sshoal/incoming"));
    const client = spawnCommand(await rig.batchArgs("--json"), { cwd: rig.ledger.work.dir });
    for (const turn of [1, 2]) {
      await until("some of it is here", () => incoming().some((path) => path.endsWith("big.bin")));
      rig.relay.refuse();
      rig.relay.cut();
      await client.until(seesKind("machine-lost", turn));
      await until("what is half is gone", () => incoming().every((path) => path.endsWith("/")));
      expect(existsSync(rig.ledger.work.path("job_results/jobs.sh.1"))).toBe(false);
      rig.relay.accept();
    }
    const { code, stderr } = await client.ended;
    expect(code, stderr).toBe(0);
    const dir = rig.ledger.work.path("job_results/jobs.sh.1");
    expect(listBelow(dir)).toEqual(["big.bin", "made.txt", "sum"]);
    execFileSync("sha256sum", ["-c", "--quiet", "sum"], { cwd: dir });
  });
});

function countBytes(files: number): number {
  return Array.from({ length: files }, (_, index) => 512 * (index % 7)).reduce((sum, bytes) => sum + bytes);
}

describe("sshd", () => {
  test("is restarted: everything continues", async () => {
    await rig.ledger.write(
      Array.from({ length: 5 }, () => rig.ledger.job(waitFor(rig.ledger.seen.path("go")))),
    );
    const client = spawnCommand(await rig.batchArgs("--json"), { cwd: rig.ledger.work.dir });
    await client.until(seesKind("job-started", 2));
    await rig.host.halt();
    await client.until(seesKind("machine-lost"));
    await rig.ledger.seen.write("go", "");
    const before = rig.relay.connections();
    await until("the client tried to come back", () => rig.relay.connections() >= before + 3);
    await rig.host.start();
    const { code, stderr } = await client.ended;
    expect(await rig.ledger.audit([rig.host]), stderr).toEqual([]);
    expect(code).toBe(0);
  });

  test("refuses every login: that is tried once, and reported; with the key back, the same command resumes", async () => {
    await rig.ledger.write(
      Array.from({ length: 3 }, () => rig.ledger.job(waitFor(rig.ledger.seen.path("go")))),
    );
    const args = await rig.batchArgs();
    const client = spawnCommand(args, { cwd: rig.ledger.work.dir });
    await client.until(({ stdout }) => stdout().includes("started: jobs.sh.2"));
    const authorized = join(rig.host.dir, "authorized_keys");
    const stranger = rig.ledger.seen.path("stranger");
    makeKey(stranger);
    const [ours, theirs] = await Promise.all([readFile(authorized), readFile(`${stranger}.pub`)]);
    await writeFile(authorized, theirs);
    const before = rig.relay.connections();
    rig.relay.cut();
    const { code, stdout, stderr } = await client.ended;
    expect(rig.relay.connections()).toBe(before + 1);
    expect(stderr).toMatch(
      /WARNING: one\.yaml is left out: 127\.0\.0\.1:\d+: does not let \S+ in; tried: the key \S+ \(refused\)/,
    );
    expect(stdout).toContain("3 unfinished");
    expect(stdout).toContain("3 lost: their machine was left out, or no longer has them");
    expect(code).toBe(1);
    await writeFile(authorized, ours);
    await rig.ledger.seen.write("go", "");
    const again = await runCommand(args, { cwd: rig.ledger.work.dir });
    expect(await rig.ledger.audit([rig.host]), again.stdout + again.stderr).toEqual([]);
    expect(again.code).toBe(0);
  });
});
