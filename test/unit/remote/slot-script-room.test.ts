// Runs slot.sh: when a job may begin, and what it waits for.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { saveGpus } from "../../rig/gpus.js";
import { killAll, pidsWithHome } from "../../rig/processes.js";
import { until } from "../../rig/until.js";
import { makeWorkspace } from "../../rig/workspace.js";
import { claimDir, holdClaim } from "./a-claim.js";
import { BATCH, BOOT_ID, HOST, liveLine, makeSpool, SHELLS } from "./a-spool.js";
import { useSpool } from "./own-spool.js";

const A = "0000001-1";
/** As the stand-in driver names its cards. */
const CARD = "GPU-00000000-0000-0000-0000-00000000000";
const ROOM = ["cpu 8000 0", "keep 0 0 0", "jobs -"];
const card = (index: number) => `card ${index} ${CARD}${index} nvidia 24576 24268 0 - -`;
const GPU_NEED = ["need 1 1000 0", "cards 1 0 1000 750 1 * 0"];
const ALONE = (index: number) => [`1 1 1000 0.75 1 0 ${CARD}${index}`, `on ${CARD}${index} 1000 750 1000`];

describe.each(SHELLS)("under %s", (name, shell) => {
  const { home, spool } = useSpool(shell);
  const children: ChildProcess[] = [];

  afterEach(() => {
    // With the program that each runs under its lock.
    killAll(children.splice(0).flatMap(({ pid }) => (pid === undefined ? [] : [-pid])));
  });

  const exitOf = (key: string) => spool.read(`jobs/${key}/exit`);
  const smi = (gpus: Parameters<typeof saveGpus>[1]["gpus"]) =>
    saveGpus(home.path("nvidia-smi.state"), { gpus });

  /** Cards of which the stand-in driver knows. */
  async function withCards(...indexes: number[]): Promise<void> {
    smi(indexes.map(() => ({})));
    await spool.room([...ROOM, ...indexes.map(card)]);
    await spool.need(GPU_NEED);
  }

  /** A slot of another batch with that claim. Returns a function that ends it. */
  async function claimed(lines: readonly string[], batch = "other"): Promise<() => Promise<void>> {
    const { child, end } = await holdClaim(home, { batch, lines });
    children.push(child);
    return end;
  }

  /** A slot of a batch that an older version handed over. */
  async function claimedBefore(claim: string, loop: string, batch = "other"): Promise<void> {
    await home.write(`.sshoal/batches/${batch}@${HOST}/slots/0/claim`, `${claim}\n`);
    await home.write(`.sshoal/batches/${batch}@${HOST}/slots/0/loop`, loop);
  }

  function startHolder(): { pid: number; end: () => Promise<void> } {
    const child = spawn("/bin/sleep", ["600"], { stdio: "ignore", detached: true });
    const ended = new Promise((resolve) => child.once("close", resolve));
    children.push(child);
    const end = async () => {
      child.kill("SIGKILL");
      await ended;
    };
    return { pid: child.pid as number, end };
  }

  async function expectsToWait(reason: RegExp, release: () => unknown): Promise<void> {
    await spool.job(A, "true");
    const { ended } = spool.start();
    const event = await spool.untilEvent(`waits 0 ${A} - `);
    expect(event.slice(`waits 0 ${A} - `.length)).toMatch(reason);
    expect(spool.exists(`jobs/${A}/claim`)).toBe(false);
    await release();
    await ended;
    expect(await exitOf(A)).toBe("0\n");
    expect((await spool.events()).filter((line) => line === event)).toHaveLength(1);
  }

  const clashes: [string, string[], string[], RegExp][] = [
    ["both want the card for themselves", GPU_NEED, ALONE(0), /^cards:1000:0 card:0:taken:-:other:7$/],
    [
      "only the other one",
      ["need 1 1000 0", "cards 1 0 9 100 0 * 0"],
      ALONE(0),
      /^cards:1000:0 card:0:taken:-:other:7$/,
    ],
    [
      "only this one",
      GPU_NEED,
      [`1 1 9 0.1 0 0 ${CARD}0`, `on ${CARD}0 9 100 0`],
      /^cards:1000:0 card:0:taken:-:other:7$/,
    ],
    ["the other batch has the machine", ["need 1 1000 0"], ["1 1 0 0 0 1 -"], /^machine:-:other$/],
    ["this batch needs the machine", ["need 1 1000 1"], ["1 1 0 0 0 0 -"], /^machine:-:other$/],
    ["memory", ["need 1 1000 0"], ["999999999 1 0 0 0 0 -"], /^memory:1:0$/],
    // Other tests may use all cores, so the claim is for more than there are.
    ["cores", ["need 1 1500 0"], ["1 9 0 0 0 0 -"], /^cores:1500:-1000$/],
    [
      "a resource",
      ["need 1 1000 0", "wants licence 1000"],
      ["1 1 0 0 0 0 -", "has licence 0 1000"],
      /^res:licence:1000:0$/,
    ],
  ];
  // The arithmetic is the same in every shell: all cases run under one shell, some under each.
  test.each(name === "dash" ? clashes : clashes.slice(0, 4))(
    "a slot waits for another batch's slot, and continues when that is gone: %s",
    async (_, need, held, reason) => {
      await withCards(0);
      await spool.room([...ROOM, card(0), "res licence 0 1000"]);
      await spool.need(need);
      const end = await claimed(held);
      await expectsToWait(reason, end);
    },
  );

  test("claims that do not block: of other cards, of none, and of slots without a process", async () => {
    await withCards(0);
    await claimed(ALONE(1), "another-card");
    await claimed([`1 1 500 0.5 1 0 ${CARD}00`, `on ${CARD}00 500 500 1000`], "begins-alike");
    await claimed(["1 1 0 0 0 0 -"], "no-card");
    const end = await claimed(ALONE(0), "ended");
    await end();
    await spool.job(A, "true");
    await spool.run();
    expect(await spool.events()).toEqual([
      expect.stringMatching(`^started ${A} 0 .* gpus=0$`),
      expect.any(String),
      "idle 0",
    ]);
  });

  describe("slots of batches that an older version handed over", () => {
    test("their claims count while their loops live", async () => {
      await withCards(0);
      const { pid, end } = startHolder();
      await claimedBefore(`5 1 500 0.5 1 0 ${CARD}9,${CARD}0`, liveLine(pid));
      await expectsToWait(/^cards:1000:0 card:0:taken:-:other:-$/, end);
    });

    test("claims that do not block: torn, and of loops that are gone", async () => {
      await withCards(0);
      const [claim = ""] = ALONE(0);
      await claimedBefore(claim, `9999999 1 ${BOOT_ID}\n`, "ended");
      await claimedBefore(claim, `${process.pid} 1 ${BOOT_ID}\n`, "another-process-by-now");
      await claimedBefore(claim, liveLine(process.pid).replace(BOOT_ID, "old-boot"), "before-a-reboot");
      await claimedBefore(claim, "", "torn");
      await spool.job(A, "true");
      await spool.run();
      expect((await spool.events())[0]).toMatch(/^started /);
    });

    test("a claim that is no number is not evaluated", async () => {
      await claimedBefore(`x[$(touch ${home.path("ran")})] 1 0 0 0 0 -`, liveLine(startHolder().pid));
      await spool.job(A, "true");
      await spool.run();
      expect(await exitOf(A)).toBe("0\n");
      expect(existsSync(home.path("ran"))).toBe(false);
    });

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
  });

  test("the claim of a loop that was killed still counts while its job runs", async () => {
    await withCards(0);
    await spool.job(A, "until [ -e ../../../go ]; do sleep 0.01; done");
    const killed = spool.start();
    await spool.untilEvent(`started ${A}`);
    const claim = await home.read(`${claimDir()}/${BATCH}@${HOST}.0`);
    expect(claim).toMatch(/^1 1 1000 0.75 1 0 GPU-.*\nby .*\non GPU-.*\nend\n$/);
    killed.child.kill("SIGKILL");
    await killed.ended;
    const next = spool.start();
    await until("the new loop is there", async () =>
      (await spool.read("slots/0/loop")).startsWith(`${next.child.pid} `),
    );
    expect(await home.read(`${claimDir()}/${BATCH}@${HOST}.0`)).toBe(claim);
    await home.write(`.sshoal/batches/${BATCH}@${HOST}/go`, "");
    await next.ended;
    expect(await exitOf(A)).toBe("0\n");
  });

  test("a slot's claim is there while a job runs, in its file and in the spool, and is emptied with the loop", async () => {
    await withCards(0);
    await spool.job(A, `cat "$HOME/${claimDir()}"/*; echo =; cat ../../../slots/0/claim`);
    await spool.run();
    const [file, copy] = (await spool.read(`jobs/${A}/out`)).split("=\n");
    expect(file).toMatch(/^1 1 1000 /);
    expect(copy).toBe(file);
    for (const each of ["claim", "job", "loop"]) expect(await spool.read(`slots/0/${each}`)).toBe("");
    expect(await home.read(`${claimDir()}/${BATCH}@${HOST}.0`)).toBe("");
  });

  // Debian’s busybox has no flock: the next test is for it.
  test.skipIf(shell.hasOnlyBusybox)(
    "a loop begins and ends under a lock that all batches share",
    async () => {
      const held =
        'touch "$HOME/held"; until [ -e "$HOME/go" ]; do /bin/sleep 0.02; done; touch "$HOME/released"';
      await home.write(`.sshoal/lock@${HOST}`, "");
      children.push(
        spawn("flock", [home.path(`.sshoal/lock@${HOST}`), "sh", "-c", held], {
          env: home.env,
          stdio: "ignore",
          detached: true,
        }),
      );
      await until("the lock is held", () => existsSync(home.path("held")));
      await spool.job(A, '[ -e "$HOME/released" ]');
      const { ended } = spool.start();
      await until("the loop waits for the lock", () => pidsWithHome(home.dir).some(isWaitingForLock));
      await home.write("go", "");
      await ended;
      expect(await exitOf(A)).toBe("0\n");
    },
  );

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

  test("two batches that need the same card take turns", async () => {
    const other = await makeSpool(home, shell, { batch: "c" });
    smi([{}]);
    for (const each of [spool, other]) {
      await each.room([...ROOM, card(0)]);
      await each.need(GPU_NEED);
      await each.job(A, 'mkdir "$HOME/card" && sleep 0.1 && rmdir "$HOME/card"');
    }
    await Promise.all([spool.run(), other.run()]);
    expect([await exitOf(A), await other.read(`jobs/${A}/exit`)]).toEqual(["0\n", "0\n"]);
  });

  /** The job is taken back, so that the loop ends. */
  async function expectsToWaitForever(reason: RegExp): Promise<void> {
    await spool.job(A, "true");
    const { ended } = spool.start();
    const event = await spool.untilEvent(`waits 0 ${A} - `);
    expect(event.slice(`waits 0 ${A} - `.length)).toMatch(reason);
    await home.write(`.sshoal/batches/${BATCH}@${HOST}/jobs/${A}/claim`, "client\n");
    await ended;
    expect(spool.exists(`jobs/${A}/exit`)).toBe(false);
  }

  test("more memory than there is: the slot waits, and reports how much is missing", async () => {
    await spool.need(["need 999999999 1000 0"]);
    await expectsToWaitForever(/^memory:999999999:\d+$/);
  });

  test("memory and cores that stay free for people, and the most jobs of this account", async () => {
    await spool.room(["cpu 8000 0", "keep 999999999 11000 0", "jobs 1"]);
    await claimed(["1 0 0 0 0 0 -"]);
    await expectsToWaitForever(/^jobs:1 memory:1:0 cores:1000:-\d+$/);
  });

  test("if too little of the card's memory is free, the slot waits until there is more", async () => {
    await withCards(0, 1);
    smi([{ memoryFree: 10 }, { memoryFree: 999 }]);
    await expectsToWait(/^cards:1000:0 card:0:memory:1000:10:24576 card:1:memory:1000:999:24576$/, () =>
      smi([{ memoryFree: 10 }, { memoryFree: 1000 }]),
    );
    expect((await spool.events()).find((line) => line.startsWith("started"))).toMatch(/ gpus=1$/);
  });

  test("a warning of nvidia-smi before the card's free memory does not keep a job from starting", async () => {
    await withCards(0);
    saveGpus(home.path("nvidia-smi.state"), {
      gpus: [{}],
      warnings: ["WARNING: infoROM is corrupted at gpu 0000:02:00.0"],
    });
    await spool.job(A, "true");
    await spool.run();
    expect((await spool.events())[0]).toMatch(/^started /);
  });

  test("the card's memory cannot be read: unknown is not free", async () => {
    await withCards(0);
    smi([{ memoryFree: "[N/A]" }]);
    await expectsToWait(/^cards:1000:0 card:0:unknown$/, () => smi([{}]));
  });

  test("an idle card whose driver reports full use is used", async () => {
    await withCards(0);
    smi([{ utilization: 100 }]);
    await spool.job(A, 'echo "$CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER"');
    await spool.run();
    expect(await spool.read(`jobs/${A}/out`)).toBe("0 PCI_BUS_ID\n");
  });

  test("named resources are in the room beside cards", async () => {
    await withCards(0);
    await spool.room([...ROOM, card(0), "res licence l-1 1000"]);
    await spool.need([...GPU_NEED, "wants licence 1000"]);
    await spool.job(A, "true");
    await spool.run();
    expect((await spool.events())[0]).toMatch(/ gpus=0 got=licence:l-1$/);
  });
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
