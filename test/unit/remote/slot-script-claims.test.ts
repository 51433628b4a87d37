// Runs slot.sh: how long a claim counts, and what other processes and accounts can do to claims and to the lock.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { chmod, mkdir, rename, rm, stat, symlink, truncate } from "node:fs/promises";
import { afterEach, describe, expect, test } from "vitest";
import { isRoot } from "../../rig/account.js";
import { saveGpus } from "../../rig/gpus.js";
import { killAll, parentOf, pidsWithHome } from "../../rig/processes.js";
import { until } from "../../rig/until.js";
import { claimDir, holdClaim, isLocked } from "./a-claim.js";
import { BATCH, HOST, makeSpool, SHELLS } from "./a-spool.js";
import { useSpool } from "./own-spool.js";

const [A, B, C] = ["0000001-1", "0000002-1", "0000003-1"];
const CARD = "GPU-00000000-0000-0000-0000-00000000000";
const ROOM = ["cpu 8000 0", "keep 0 0 0", "jobs -"];
const card = (index: number) => `card ${index} ${CARD}${index} nvidia 24576 24268 0 - -`;
const GPU_NEED = ["need 1 1000 0", "cards 1 0 1000 750 1 * 0"];
const FILE = `${claimDir()}/${BATCH}@${HOST}.0`;

describe.each(SHELLS)("under %s", (name, shell) => {
  const { home, spool, remake } = useSpool(shell);
  const children: ChildProcess[] = [];

  afterEach(() => {
    // With the program that each runs under its lock.
    killAll(children.splice(0).flatMap(({ pid }) => (pid === undefined ? [] : [-pid])));
  });

  const go = () => home.write("go", "");
  const waits = (what = "go") => `until [ -e "$HOME/${what}" ]; do /bin/sleep 0.02; done`;
  const outOf = (key: string) => spool.read(`jobs/${key}/out`);
  const pidIn = async (file: string) => Number((await spool.read(`slots/0/${file}`)).split(" ")[0]);
  const holders = () => pidsWithHome(home.dir).filter((pid) => hasOpen(pid, home.path(FILE)));

  // Debian's busybox has no flock.
  describe.skipIf(shell.hasOnlyBusybox)("the life of a claim", () => {
    /** A job whose child has left its session. */
    async function startJob(): Promise<number[]> {
      await spool.job(A, `setsid sh -c 'echo $$ >"$HOME/child"; ${waits()}' & ${waits()}`);
      const loop = spool.start();
      loop.ended.catch(() => undefined);
      const child = Number(
        await until("its child runs", async () => (await home.read("child").catch(() => "")).trim() || null),
      );
      const known = [loop.child.pid as number, await pidIn("keeper"), await pidIn("job"), child];
      expect(holders()).toEqual(expect.arrayContaining(known));
      return known;
    }

    /** They must not react to each other's end. Programs that ended or began in the meantime are looked for again. */
    async function stopAll(): Promise<number[]> {
      let stopped: number[] = [];
      await until("all are stopped", () => {
        const before = stopped;
        stopped = holders().filter((pid) => signal(pid, "SIGSTOP"));
        return stopped.length > 0 && stopped.join() === before.join();
      });
      return stopped;
    }

    const orders: [string, (pids: number[]) => number[]][] = [
      ["from the loop to the job", (pids) => pids.toSorted((a, b) => a - b)],
      ["from the job to the loop", (pids) => pids.toSorted((a, b) => b - a)],
      ["from the middle", (pids) => pids.toSorted((a, b) => (a % 7) - (b % 7))],
    ];
    test.each(orders)("it counts until the last of its processes is killed: %s", async (_, order) => {
      const known = await startJob();
      const all = await stopAll();
      expect(all.length).toBeGreaterThanOrEqual(known.length);
      for (const pid of order(all)) {
        expect(isLocked(home.path(FILE))).toBe(true);
        process.kill(pid, "SIGKILL");
      }
      await until("the lock is free", () => !isLocked(home.path(FILE)));
      expect(await home.read(FILE)).toMatch(/\nend\n$/);
      for (const pid of pidsWithHome(home.dir)) process.kill(pid, "SIGKILL");
    });

    test("the sampler, the watch over the time and slots that it starts do not have it", async () => {
      await remake({ settings: { limit: 600 } });
      await spool.room([...ROOM, "slots 2"]);
      await spool.job(A, waits());
      await spool.job(B, waits());
      const loop = spool.start();
      await spool.untilEvent(`started ${B} 1`);
      await until("there is a sampler", () => existsSync(home.path(`.sshoal/sampler@${HOST}`)));
      const commands = holders().map(commandOf);
      expect(commands.filter((line) => /sampler|sleep 600|slot\.sh .* 1 /.test(line))).toEqual([]);
      const other = `${claimDir()}/${BATCH}@${HOST}.1`;
      expect(pidsWithHome(home.dir).filter((pid) => hasOpen(pid, home.path(other))).length).toBeGreaterThan(
        1,
      );
      await go();
      await loop.ended;
    });

    test("a claim of a killed slot does not count, and is emptied", async () => {
      await spool.room([...ROOM, card(0)]);
      saveGpus(home.path("nvidia-smi.state"), { gpus: [{}] });
      await spool.need(GPU_NEED);
      const { end } = await holdClaim(home, {
        batch: "other",
        lines: [`1 1 9 0.1 1 0 ${CARD}0`, `on ${CARD}0 9 100 1000`],
      });
      await end();
      await spool.job(A, "true");
      await spool.run();
      expect((await stat(home.path(`${claimDir()}/other@${HOST}.0`))).size).toBe(0);
    });

    test("a slot that could not lock its claim, because another process has the lock, still counts", async () => {
      const room = [...ROOM, "res licence l-1 1000"];
      const need = ["need 1 1000 0", "wants licence 1000"];
      await home.write(FILE, "");
      const thief = spawn("flock", ["-x", home.path(FILE), "/bin/sleep", "600"], {
        env: home.env,
        detached: true,
      });
      children.push(thief);
      await until("the file is locked", () => isLocked(home.path(FILE)));
      await spool.room(room);
      await spool.need(need);
      await spool.job(A, waits());
      const loop = spool.start();
      await spool.untilEvent(`started ${A}`);
      for (const pid of pidsWithHome(home.dir).filter((each) => parentOf(each) === thief.pid))
        process.kill(pid, "SIGKILL");
      await until("the lock is free", () => !isLocked(home.path(FILE)));
      const other = await makeSpool(home, shell, { batch: "other" });
      await other.room(room);
      await other.need(need);
      await other.job(B, "true");
      const second = other.start();
      await other.untilEvent("waits 0 ");
      await go();
      await Promise.all([loop.ended, second.ended]);
      expect((await other.events()).some((line) => line.startsWith(`ended ${B} 0 0 `))).toBe(true);
    });

    test("a claim names the job that runs, also where the slot keeps it for another job", async () => {
      for (const key of [A, B]) await spool.job(key, `grep ^by "$HOME/${FILE}" | cut -d' ' -f3`);
      await spool.run();
      expect([await outOf(A), await outOf(B)]).toEqual(["0000000001\n", "0000000002\n"]);
    });

    test("a file that was removed is made again, with its lock", async () => {
      await spool.need(["need 1 1000 1"], "machine");
      await spool.job(A, `rm "$HOME/${FILE}"`);
      await spool.job(B, `cat "$HOME/${FILE}"; ${waits()}`, "-", { kind: "machine" });
      const loop = spool.start();
      await until("it has its claim", async () => (await outOf(B).catch(() => "")).endsWith("end\n"));
      expect(isLocked(home.path(FILE))).toBe(true);
      await go();
      await loop.ended;
    });
  });

  describe("slots follow the machine, without a client", () => {
    const smi = (...free: number[]) =>
      saveGpus(home.path("nvidia-smi.state"), { gpus: free.map((memoryFree) => ({ memoryFree })) });

    test("when another process leaves a card, a slot that had left takes it", async () => {
      smi(24268, 10);
      await spool.room([...ROOM, card(0), card(1), "slots 2"]);
      await spool.need(GPU_NEED);
      for (const key of [A, B, C]) await spool.job(key, `echo "$CUDA_VISIBLE_DEVICES"; ${waits(key)}`);
      const loop = spool.start();
      await spool.untilEvent(`started ${A} 0`);
      await spool.untilEvent(`waits 1 ${B} - cards:1000:0 `);
      smi(24268, 24268);
      await spool.untilEvent(`started ${B} 1`);
      // Full again: nothing new starts. A slot looks again if it has last looked two seconds ago.
      smi(10, 10);
      const [full] = uptime();
      await until("that is known", () => (uptime()[0] ?? 0) > (full ?? 0) + 2.1);
      await home.write(A, "");
      await spool.untilEvent(`ended ${A} 0 0`);
      expect((await spool.events()).filter((line) => line.startsWith(`started ${C}`))).toEqual([]);
      smi(24268, 24268);
      await home.write(B, "");
      await home.write(C, "");
      await spool.untilEvent(`ended ${C}`);
      await loop.ended;
      expect(await Promise.all([outOf(A), outOf(B)])).toEqual(["0\n", "1\n"]);
    });

    test("a slot that another one started does not inherit its card", async () => {
      smi(24268);
      await spool.room([...ROOM, card(0), "slots 2"]);
      await spool.need(GPU_NEED);
      await spool.need(["need 1 1000 0"], "none");
      await spool.job(A, waits());
      await spool.job(B, "env | grep -c CUDA_VISIBLE || true", "-", { kind: "none" });
      const loop = spool.start();
      await spool.untilEvent(`ended ${B} 1 0`);
      expect(await outOf(B)).toBe("0\n");
      await go();
      await loop.ended;
    });
  });

  test("with the rule polite, jobs are nice, and one card stays free", async () => {
    saveGpus(home.path("nvidia-smi.state"), { gpus: [{}, {}] });
    await spool.room(["rule polite", ...ROOM, card(0), card(1)]);
    await spool.need(GPU_NEED);
    await spool.need(["need 1 1000 0", "cards 2 0 1000 750 1 * 0"], "both");
    await spool.job(A, `nice; ${waits()}`);
    await spool.job(B, `sh -c nice; true & wait`, "-", { kind: "both" });
    await spool.slot(1);
    const loop = spool.start();
    await spool.untilEvent(`started ${A}`);
    const other = spool.start(1);
    expect(await spool.untilEvent(`waits 1 ${B} both `)).toMatch(/ card:\d:kept|taken/);
    await home.write(`.sshoal/batches/${BATCH}@${HOST}/jobs/${B}/claim`, "client\n");
    await go();
    await Promise.all([loop.ended, other.ended]);
    // Debian's busybox has no nice.
    if (!shell.hasOnlyBusybox) expect(Number(await outOf(A))).toBeGreaterThanOrEqual(10);
  });

  test("names between braces become what the job got, in a command of several lines", async () => {
    await spool.room([
      ...ROOM,
      "card 0 GPU-a nvidia 1 - - t -",
      "card 3 GPU-b nvidia 1 - - t -",
      "res licence l-1 1000",
      "res licence l-2 1000",
    ]);
    await spool.need(["need 1 1000 0", "cards 2 0 0 100 1 * 0", "wants licence 1000,1000"]);
    await spool.job(
      A,
      `gpu=x\necho "{gpu}" '{licence}' "\${gpu}" {other} \\{gpu} "$gpu" {gpu}x{licence}\necho '{ gpu }' {}; f() { echo {gpu}; }; f`,
    );
    await home.write(`.sshoal/batches/${BATCH}@${HOST}/jobs/${A}/names`, "gpu licence\n");
    await spool.run();
    expect(await outOf(A)).toBe("0,3 l-1,l-2 x {other} 0,3 x 0,3xl-1,l-2\n{ gpu } {}\n0,3\n");
  });

  test("a card that is listed twice takes two jobs, and one that is listed once takes one", async () => {
    await spool.room([...ROOM, "card 0 GPU-a nvidia 1 - - t -", "card 1 GPU-b nvidia 1 - - t -"]);
    await spool.need(["need 1 1000 0", "cards 1 0 0 750 1 0,0,1 1"]);
    const keys = [1, 2, 3, 4].map((id) => `000000${id}-1`);
    for (const key of keys) await spool.job(key, `echo "$CUDA_VISIBLE_DEVICES"; ${waits()}`);
    for (const slot of [1, 2, 3]) await spool.slot(slot);
    const loops = [0, 1, 2, 3].map((slot) => spool.start(slot));
    await until(
      "three run",
      async () => (await spool.events()).filter((line) => line.startsWith("started")).length === 3,
    );
    await until("the fourth waits", async () =>
      (await spool.events()).some((line) => / card:0:listed card:1:listed$/.test(line)),
    );
    await go();
    await Promise.all(loops.map(({ ended }) => ended));
    const cards = await Promise.all(keys.slice(0, 3).map(outOf));
    expect(cards.toSorted()).toEqual(["0\n", "0\n", "1\n"]);
  });

  test("a slot that finds room for another one reports it before its own job starts", async () => {
    await spool.room([...ROOM, "slots 2"]);
    await spool.job(A, `true >"$HOME/a"; ${waits("b")}`);
    await spool.job(B, `true >"$HOME/b"; ${waits("a")}`);
    await spool.run();
    const events = (await spool.read("slots/0/events"))
      .split("\n")
      .filter((line) => !line.startsWith("warned"));
    expect(events.slice(0, 2)).toEqual(["added 0 1", expect.stringMatching(`^started ${A} 0 `)]);
    await until("the other one has ended", async () => (await spool.events()).includes("idle 1"));
  });

  test("a job of two and a half cards", async () => {
    await spool.room([...ROOM, ...[0, 1, 2].map((index) => `card ${index} GPU-${index} nvidia 1 - - t -`)]);
    await spool.need(["need 1 1000 0", "cards 2 500 0 500 1 * 0"]);
    await spool.job(A, `echo "$CUDA_VISIBLE_DEVICES"; grep ^on "$HOME/${FILE}"`);
    await spool.run();
    expect(await outOf(A)).toBe("0,1,2\non GPU-0 0 500 1000\non GPU-1 0 500 1000\non GPU-2 0 500 500\n");
  });

  describe("what others put beside the claims", () => {
    test("links, fifos, directories, huge files and garbage do not stop a job", async () => {
      await mkdir(home.path(".sshoal-claims-4711"));
      for (const dir of [".sshoal-claims-4711", claimDir()]) {
        await mkdir(home.path(dir), { recursive: true });
        await symlink("/dev/zero", home.path(dir, "a@b.0"));
        execFileSync("mkfifo", [home.path(dir, "b@b.0")]);
        await mkdir(home.path(dir, "c@b.0"));
        await home.write(`${dir}/d@b.0`, "");
        await truncate(home.path(dir, "d@b.0"), 1 << 30);
        await home.write(`${dir}/e@b.0`, Buffer.from([0, 255, 10, 0, 10]));
        await home.write(`${dir}/f\n-\nown_uid=1@b.0`, "1 1 0 0 0 1 -\nend\n");
      }
      if (isRoot) execFileSync("chown", ["-R", "4711:4711", home.path(".sshoal-claims-4711")]);
      await symlink("/", home.path(".sshoal-claims-4712"));
      await home.write(".sshoal-claims-4713", "");
      await spool.job(A, "true");
      await spool.run();
      expect(await spool.read(`jobs/${A}/exit`)).toBe("0\n");
    });

    test("a directory of ours that others can write is not used: a link in it would lead to our files", async () => {
      await mkdir(home.path(claimDir()));
      await chmod(home.path(claimDir()), 0o777);
      await home.write("precious", "precious");
      for (const name of [BATCH, "other"])
        await symlink(home.path("precious"), home.path(claimDir(), `${name}@${HOST}.0`));
      await spool.job(A, `ls "$HOME/${claimDir()}.1"`);
      await spool.run();
      expect(await outOf(A)).toBe(`${BATCH}@${HOST}.0\n`);
      expect(await home.read("precious")).toBe("precious");
    });

    test("names that no slot makes are no claims", async () => {
      for (const batch of ["odd name", ".odd"])
        children.push((await holdClaim(home, { batch, lines: ["1 1 0 0 0 1 -"] })).child);
      await spool.job(A, "true");
      await spool.run();
      expect(await spool.read(`jobs/${A}/exit`)).toBe("0\n");
    });

    test.runIf(isRoot)(
      "directories with our number: claims still keep slots of this account apart, and that is reported",
      async () => {
        for (const end of ["", ".1", ".2"]) {
          await mkdir(home.path(`${claimDir()}${end}`));
          execFileSync("chown", ["4711:4711", home.path(`${claimDir()}${end}`)]);
        }
        await spool.room([...ROOM, "card 0 GPU-a nvidia 1 - - t -"]);
        await spool.need(["need 1 1000 0", "cards 1 0 0 100 1 * 0"]);
        await spool.slot(1);
        await spool.job(A, waits());
        await spool.job(B, "true");
        const loop = spool.start();
        await spool.untilEvent(`started ${A}`);
        const other = spool.start(1);
        await spool.untilEvent(`waits 1 ${B} - cards:1000:0 card:0:taken`);
        await go();
        await Promise.all([loop.ended, other.ended]);
        expect(await spool.events()).toContainEqual(
          expect.stringMatching(/^warned 0 no claim can be written in /),
        );
      },
    );
  });

  describe("the lock of the machine", () => {
    test.skipIf(shell.hasOnlyBusybox)(
      "a process that keeps it is named, and jobs start all the same",
      async () => {
        const holder = spawn("flock", [home.dir, "/bin/sleep", "600"], { stdio: "ignore", detached: true });
        children.push(holder);
        await until("the lock is held", () => isLocked(home.dir));
        await spool.job(A, "true");
        await spool.run();
        const [warning] = (await spool.events()).filter((line) => line.startsWith("warned"));
        expect(warning).toMatch(
          new RegExp(`jobs start without the lock on ${home.dir}, which the process \\d+ of \\w+ has$`),
        );
        process.kill(-(holder.pid as number), "SIGKILL");
      },
    );

    test("no process of a job has it", async () => {
      await spool.job(A, `ls -l /proc/self/fd; ${waits()}`);
      const loop = spool.start();
      await until("it runs", async () => (await outOf(A).catch(() => "")).includes("->"));
      expect(readdirSync("/proc/self/fd").length).toBeGreaterThan(0);
      expect(pidsWithHome(home.dir).filter((pid) => hasOpen(pid, home.dir, "3"))).toEqual([]);
      await go();
      await loop.ended;
    });
  });

  // Debian's busybox has no flock.
  describe.skipIf(shell.hasOnlyBusybox)("what happens right before a slot gets the lock", () => {
    /** The slot calls this for the lock of the machine, after it started the allocator. Other calls are those of locks on files. */
    const atTheLock = async (script: string) => {
      const text = `#!/bin/sh\ncase "$*" in '-n 3') ${script} ;; esac\nexec /usr/bin/flock "$@"\n`;
      await home.write("bin/flock", text);
      await chmod(home.path("bin/flock"), 0o755);
    };

    const oneJobForACard = async () => {
      saveGpus(home.path("nvidia-smi.state"), { gpus: [{}] });
      await spool.room([...ROOM, card(0)]);
      await spool.need(GPU_NEED);
      await spool.job(A, "true");
    };

    test.each([
      ["its file is new", ""],
      ["its file was empty", "an empty file"],
    ])("another slot of the account claims the card: %s", async (_, before) => {
      await oneJobForACard();
      const { end } = await holdClaim(home, {
        batch: "other",
        lines: [`1 1 9 1 1 0 ${CARD}0`, `on ${CARD}0 9 1000 1000`],
      });
      const file = home.path(claimDir(), `other@${HOST}.0`);
      await rename(file, home.path("later"));
      if (before !== "") await home.write(`${claimDir()}/other@${HOST}.0`, "");
      await atTheLock(`mv "$HOME/later" "${file}" 2>/dev/null`);
      const loop = spool.start();
      expect(await spool.untilEvent("waits ")).toMatch(/ card:0:taken:-:other:7$/);
      await end();
      await loop.ended;
    });

    test.runIf(isRoot).each([
      ["its directory is new", "mkdir -m 755 DIR && cat later >FILE && chown -R 4711:4711 DIR"],
      ["its file is new", "cat later >FILE && chown 4711:4711 FILE"],
      ["its file was empty", "cat later >FILE"],
    ])("another account claims the card: %s", async (why, script) => {
      await oneJobForACard();
      const dir = home.path(claimDir(4711));
      const file = `${dir}/other@${HOST}.0`;
      if (why !== "its directory is new") await mkdir(dir, { mode: 0o755 });
      if (why === "its file was empty") await home.write(`${claimDir(4711)}/other@${HOST}.0`, "");
      if (existsSync(dir)) execFileSync("chown", ["-R", "4711:4711", dir]);
      await home.write("later", `1 1 9 1 1 0 ${CARD}0\nby other 7 1\non ${CARD}0 9 1000 1000\nend\n`);
      const change = script
        .replaceAll("DIR", `"${dir}"`)
        .replaceAll("FILE", `"${file}"`)
        .replace("later", '"$HOME/later"');
      const holder = `setsid /usr/bin/flock -s "${file}" /bin/sleep 600 </dev/null >/dev/null 2>&1 3<&- 4<&- 9<&-`;
      const isFree = `/usr/bin/flock -n "${file}" true`;
      await atTheLock(
        `[ -s "${file}" ] || { ${change}; ${holder} & echo $! >"$HOME/holder"; while ${isFree}; do :; done; }`,
      );
      const loop = spool.start();
      expect(await spool.untilEvent("waits ")).toMatch(/ card:0:taken:\S+:other:7$/);
      process.kill(-Number(await home.read("holder")), "SIGKILL");
      await loop.ended;
    });

    test("the process that asks is killed: a question without its claims starts no job", async () => {
      await oneJobForACard();
      await atTheLock('[ -e "$HOME/fine" ] || kill -9 $PPID');
      const loop = spool.start();
      expect(await spool.untilEvent("waits ")).toBe(`waits 0 ${A} - answer:-`);
      await home.write("fine", "");
      await loop.ended;
      expect(await spool.read(`jobs/${A}/exit`)).toBe("0\n");
    });
  });

  test("without flock and timeout, slots of this account keep apart, and that is reported once", async () => {
    if (shell.hasOnlyBusybox) return;
    await mkdir(home.path("few"));
    for (const tool of readdirSync("/usr/bin"))
      if (!["flock", "timeout"].includes(tool)) await symlink(`/usr/bin/${tool}`, home.path("few", tool));
    const env = { PATH: `${home.path("bin")}:${home.path("few")}` };
    await spool.need(["need 1 1000 1"]);
    await spool.slot(1);
    for (const key of [A, B])
      await spool.job(key, 'mkdir "$HOME/alone" && /bin/sleep 0.1 && rmdir "$HOME/alone"');
    await Promise.all([spool.start(0, env).ended, spool.start(1, env).ended]);
    expect([await spool.read(`jobs/${A}/exit`), await spool.read(`jobs/${B}/exit`)]).toEqual(["0\n", "0\n"]);
    await rm(home.path("few"), { recursive: true });
    expect(name).not.toBe("busybox");
  });
});

function uptime(): number[] {
  return readFileSync("/proc/uptime", "utf8").split(" ").map(Number);
}

/** Empty if the process has ended. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}

/** False if the process has ended. */
function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

function hasOpen(pid: number, path: string, descriptor?: string): boolean {
  try {
    const names = descriptor === undefined ? readdirSync(`/proc/${pid}/fd`) : [descriptor];
    return names.some(
      (name) => readlinkSync(`/proc/${pid}/fd/${name}`).replace(/ \(deleted\)$/, "") === path,
    );
  } catch {
    return false;
  }
}
