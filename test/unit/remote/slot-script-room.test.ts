// Runs slot.sh: when a slot may begin, and what it waits for.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { saveGpus } from "../../rig/gpus.js";
import { pidsWithHome } from "../../rig/processes.js";
import { until } from "../../rig/until.js";
import { makeWorkspace } from "../../rig/workspace.js";
import {
  BATCH,
  BOOT_ID,
  HOST,
  type Home,
  liveLine,
  makeHome,
  makeSpool,
  SHELLS,
  type Spool,
} from "./a-spool.js";

const A = "0000001-1";
const GPU_JOB = "1 1 1000 0.75 1 0 GPU-7";

describe.each(SHELLS)("under %s", (name, shell) => {
  let home: Home;
  let spool: Spool;
  let holder: ChildProcess | undefined;

  beforeEach(async () => {
    home = await makeHome(shell);
    spool = await makeSpool(home, shell);
  });
  afterEach(async () => {
    holder?.kill("SIGKILL");
    await home.close();
  });

  const exitOf = (key: string) => spool.read(`jobs/${key}/exit`);

  /** A slot of another batch with that claim; its loop has written `loop`. */
  async function claimed(need: string, loop: string, batch = "other"): Promise<void> {
    await home.write(`.sshoal/batches/${batch}@${HOST}/slots/0/claim`, `${need}\n`);
    await home.write(`.sshoal/batches/${batch}@${HOST}/slots/0/loop`, loop);
  }

  /** A process that acts as a loop, with a function that ends it. */
  function startHolder(): { pid: number; end: () => Promise<void> } {
    const child = spawn("/bin/sleep", ["600"], { stdio: "ignore", detached: true });
    const ended = new Promise((resolve) => child.once("close", resolve));
    holder = child;
    const end = async () => {
      child.kill("SIGKILL");
      await ended;
    };
    return { pid: child.pid as number, end };
  }

  async function expectsToWait(reason: string | RegExp, release: () => unknown): Promise<void> {
    await spool.job(A, "true");
    const { ended } = spool.start();
    const event = await spool.untilEvent("waiting 0 ");
    expect(event.slice("waiting 0 ".length)).toMatch(reason);
    expect(spool.exists(`jobs/${A}/claim`)).toBe(false);
    await release();
    await ended;
    expect(await exitOf(A)).toBe("0\n");
    expect((await spool.events()).filter((line) => line === event)).toHaveLength(1);
  }

  test.runIf(process.getuid?.() === 0)(
    "a claim in another account's directory, behind a link of ours, is not read",
    async () => {
      const stranger = await makeWorkspace();
      onTestFinished(() => stranger.remove());
      await stranger.write("slots/0/claim", `x[$(touch ${home.path("ran")})] 1 0 0 0 1 -\n`);
      await stranger.write("slots/0/loop", liveLine(process.pid));
      execFileSync("chown", ["-R", "1234:1234", stranger.dir]);
      await symlink(stranger.dir, home.path(`.sshoal/batches/other@${HOST}`));
      await spool.job(A, "true");
      await spool.run();
      expect(await exitOf(A)).toBe("0\n");
      expect(existsSync(home.path("ran"))).toBe(false);
    },
  );

  test("a claim that is no number is not evaluated", async () => {
    await claimed(`x[$(touch ${home.path("ran")})] 1 0 0 0 0 -`, liveLine(startHolder().pid));
    await spool.job(A, "true");
    await spool.run();
    expect(await exitOf(A)).toBe("0\n");
    expect(existsSync(home.path("ran"))).toBe(false);
  });

  test("the claim of a loop that was killed still counts while its job runs", async () => {
    await spool.slot(0, { need: GPU_JOB });
    await spool.job(A, "until [ -e ../../../go ]; do sleep 0.01; done");
    const killed = spool.start();
    await spool.untilEvent(`started ${A}`);
    killed.child.kill("SIGKILL");
    await killed.ended;
    const next = spool.start();
    await until("the new loop is there", async () =>
      (await spool.read("slots/0/loop")).startsWith(`${next.child.pid} `),
    );
    expect(await spool.read("slots/0/claim")).toBe(`${GPU_JOB}\n`);
    await home.write(`.sshoal/batches/${BATCH}@${HOST}/go`, "");
    await next.ended;
    expect(await exitOf(A)).toBe("0\n");
  });

  const clashes: [string, string, string, string][] = [
    ["both reserve the card", GPU_JOB, "5 1 500 0.5 1 0 GPU-6,GPU-7", "GPU GPU-7 is taken by other@HOST"],
    [
      "the other batch has the machine",
      "1 1 0 0 0 0 -",
      "1 1 0 0 0 1 -",
      "the machine is reserved by other@HOST",
    ],
    ["only the other batch reserves it", "1 1 9 0.1 0 0 GPU-7", GPU_JOB, "GPU GPU-7 is taken by other@HOST"],
    ["only this one reserves it", GPU_JOB, "1 1 9 0.1 0 0 GPU-7", "GPU GPU-7 is taken by other@HOST"],
    [
      "this batch needs the machine",
      "1 1 0 0 0 1 -",
      "1 1 0 0 0 0 -",
      "the machine is reserved by other@HOST",
    ],
  ];
  // The arithmetic is the same in every shell: all cases run under one shell, two under each.
  test.each(name === "dash" ? clashes : clashes.slice(0, 2))(
    "a slot waits for another batch's slot, and continues when that is gone: %s",
    async (_, need, held, reason) => {
      const { pid, end } = startHolder();
      await claimed(held, liveLine(pid));
      await spool.slot(0, { need });
      await expectsToWait(new RegExp(`^${reason.replace("HOST", HOST)}$`), end);
    },
  );

  test("claims that do not block: of other cards, of none, and of dead loops", async () => {
    const live = liveLine(process.pid);
    await claimed("1 1 500 0.5 1 0 GPU-6", live, "another-card");
    await claimed("1 1 500 0.5 1 0 GPU-77,GPU-", live, "begins-alike");
    await claimed("1 1 0 0 0 0 -", live, "no-card");
    await claimed(GPU_JOB, `9999999 1 ${BOOT_ID}\n`, "ended");
    await claimed(GPU_JOB, `${process.pid} 1 ${BOOT_ID}\n`, "another-process-by-now");
    await claimed(GPU_JOB, live.replace(BOOT_ID, "old-boot"), "before-a-reboot");
    await claimed(GPU_JOB, "", "torn");
    await spool.slot(0, { need: GPU_JOB });
    await spool.job(A, "true");
    await spool.run();
    expect(await spool.events()).toEqual([
      expect.stringMatching(`^started ${A} 0 `),
      expect.any(String),
      "idle 0",
    ]);
  });

  test("a slot's claim exists while a job runs, and is removed with the loop", async () => {
    await spool.slot(0, { need: GPU_JOB });
    await spool.job(A, "cat ../../../slots/0/claim");
    await spool.run();
    expect(await spool.read(`jobs/${A}/out`)).toBe(`${GPU_JOB}\n`);
    for (const file of ["claim", "job", "loop"]) expect(await spool.read(`slots/0/${file}`)).toBe("");
  });

  // Debian’s busybox has no flock: the next test is for it.
  test.skipIf(shell.hasOnlyBusybox)("claims are made under a lock that all batches share", async () => {
    const held =
      'touch "$HOME/held"; until [ -e "$HOME/go" ]; do /bin/sleep 0.02; done; touch "$HOME/released"';
    await home.write(`.sshoal/lock@${HOST}`, "");
    holder = spawn("flock", [home.path(`.sshoal/lock@${HOST}`), "sh", "-c", held], {
      env: home.env,
      stdio: "ignore",
    });
    await until("the lock is held", () => existsSync(home.path("held")));
    await spool.job(A, '[ -e "$HOME/released" ]');
    const { ended } = spool.start();
    await until("the loop waits for the lock", () => pidsWithHome(home.dir).some(isWaitingForLock));
    await home.write("go", "");
    await ended;
    expect(await exitOf(A)).toBe("0\n");
  });

  test.runIf(shell.hasOnlyBusybox)("without flock a file names the holder of the lock", async () => {
    const { pid, end } = startHolder();
    await home.write(`.sshoal/lock@${HOST}.held`, liveLine(pid));
    await spool.job(A, '[ -e "$HOME/released" ]');
    const { ended } = spool.start();
    await until("the loop waits for the lock", () => pidsWithHome(home.dir).some(isAsleep));
    await home.write("released", "");
    await end();
    await ended;
    expect(await exitOf(A)).toBe("0\n");
  });

  function isAsleep(pid: number): boolean {
    return cmdlineOf(pid).startsWith("/bin/sleep\0");
  }

  function isWaitingForLock(pid: number): boolean {
    return cmdlineOf(pid) === "flock\0" + "9\0";
  }

  function cmdlineOf(pid: number): string {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8");
    } catch {
      return "";
    }
  }

  test("two batches that need the same card take turns", async () => {
    const other = await makeSpool(home, shell, { batch: "c" });
    for (const each of [spool, other]) {
      await each.slot(0, { need: GPU_JOB });
      await each.job(A, 'mkdir "$HOME/card" && sleep 0.1 && rmdir "$HOME/card"');
    }
    await Promise.all([spool.run(), other.run()]);
    expect([await exitOf(A), await other.read(`jobs/${A}/exit`)]).toEqual(["0\n", "0\n"]);
  });

  test("more memory than there is: the slot waits, and reports how much is missing", async () => {
    await spool.slot(0, { need: "999999999 1 0 0 0 0 -" });
    await spool.slot(1);
    await expectsToWait(/^memory: 999999999 MB wanted, \d+ MB free$/, () => spool.run(1));
  });

  test.each([
    ["MemTotal: 0 kB\nMemAvailable: 0 kB\n", "yes\n"],
    ["MemTotal: 9999999 kB\nMemAvailable: 1023999 kB\n", ""],
    ["MemTotal: 9999999 kB\nMemAvailable: 1024000 kB\n", "yes\n"],
  ])("a job of 1000 MB, where meminfo has %j", async (meminfo, said) => {
    await home.write("proc/meminfo", meminfo);
    const part = readFileSync(
      new URL("../../../src/remote/runtime/slot/claim-room.sh", import.meta.url),
      "utf8",
    );
    const script = `${part}\nproc=proc\nhas_memory 1000 && echo yes || true`;
    const [file = "", ...words] = shell.hasOnlyBusybox ? ["busybox", "sh"] : shell.words;
    expect(execFileSync(file, [...words, "-c", script], { cwd: home.dir, encoding: "utf8" })).toBe(said);
  });

  test("memory that a live claim has not used yet is not free", async () => {
    const { pid, end } = startHolder();
    await claimed("999999999 1 0 0 0 0 -", liveLine(pid));
    await home.write(`.sshoal/batches/other@${HOST}/slots/0/job`, `${pid} 1 ${BOOT_ID} k\n`);
    await expectsToWait(/^memory: \d+ MB wanted, \d+ MB free$/, end);
  });

  test("if too little of the card's memory is free, the slot waits until there is more", async () => {
    const state = home.path("nvidia-smi.state");
    saveGpus(state, { gpus: [{}, { memoryFree: 999 }] });
    await spool.slot(0, { need: GPU_JOB, env: "check_cards=1" });
    await expectsToWait(/^GPU 1: 1000 MB wanted, 999 MB free$/, () => {
      saveGpus(state, { gpus: [{}, { memoryFree: 1000 }] });
    });
  });

  test("a warning of nvidia-smi before the card's free memory does not keep a job from starting", async () => {
    saveGpus(home.path("nvidia-smi.state"), {
      gpus: [{}],
      warnings: ["WARNING: infoROM is corrupted at gpu 0000:02:00.0"],
    });
    await spool.slot(0, { need: GPU_JOB, env: "check_cards=0" });
    await spool.job(A, "true");
    const { ended } = spool.start();
    await until("the slot has decided", async () =>
      (await spool.events()).some((line) => /^(started|waiting) /.test(line)),
    );
    expect((await spool.events())[0]).toMatch(/^started /);
    await ended;
  });

  test("the card's memory cannot be read: unknown is not free", async () => {
    const state = home.path("nvidia-smi.state");
    saveGpus(state, { gpus: [{ memoryFree: "[N/A]" }] });
    await spool.slot(0, { need: GPU_JOB, env: "check_cards=0" });
    await expectsToWait(/^GPU 0: its free memory cannot be read$/, () => saveGpus(state, { gpus: [{}] }));
  });
});
