// Runs slot.sh alone, under each shell it must run under, and checks the files it leaves.

import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { until } from "../../rig/until.js";
import { BATCH, BOOT_ID, HOST, type Home, liveLine, SHELLS } from "./a-spool.js";
import { useSpool } from "./own-spool.js";

const A = "0000001-1";
const B = "0000002-1";
const C = "0000003-1";

const many = (count: number) =>
  Array.from({ length: count }, (_, line) => `${String(line + 1).padStart(7, "0")}-1`);

describe.each(SHELLS)("under %s", (_, shell) => {
  const { home, spool, remake } = useSpool(shell);

  const exitOf = (key: string) => spool.read(`jobs/${key}/exit`);

  describe("one job", () => {
    test("its streams, its exit code and the event log", async () => {
      await spool.job(A, "echo said; echo wrong >&2; exit 3");
      await spool.run();
      expect(await spool.read(`jobs/${A}/out`)).toBe("said\n");
      expect(await spool.read(`jobs/${A}/err`)).toBe("wrong\n");
      expect(await exitOf(A)).toBe("3\n");
      expect(await spool.events()).toEqual([
        expect.stringMatching(new RegExp(`^started ${A} 0 \\d+ ${BOOT_ID.slice(0, 8)}$`)),
        expect.stringMatching(new RegExp(`^ended ${A} 0 3 \\d+0$`)),
        "idle 0",
      ]);
    });

    test("a job that reads its stdin finds it empty", async () => {
      await spool.job(A, "cat; echo $? >got; read -r line || echo end >>got");
      await spool.run();
      expect(await spool.read(`jobs/${A}/work/got`)).toBe("0\nend\n");
    });

    test("it has the slot's environment and its own session", async () => {
      await spool.room(["cpu 8000 0", "keep 0 0 0", "jobs -", "card 3 three nvidia - - - t -"]);
      await spool.need(["need 1 1000 0", "cards 1 0 0 0 1 3 1"]);
      await spool.job(
        A,
        'echo "$CUDA_VISIBLE_DEVICES $SSHOAL_SLOT $SSHOAL_ATTEMPT"; cut -d " " -f 6 /proc/$$/stat; echo $$',
      );
      await spool.run();
      const [env, session, pid] = (await spool.read(`jobs/${A}/out`)).split("\n");
      expect([env, session]).toEqual([`3 0 ${BATCH}/${A}.`, pid]);
    });

    test("if it is killed, the code shows the signal", async () => {
      await spool.job(A, "kill -KILL $$");
      await spool.start().ended; // bash prints "Killed"
      expect(await exitOf(A)).toBe("137\n");
      expect((await spool.events())[1]).toMatch(new RegExp(`^ended ${A} 0 137 `));
    });

    test("a background child that it leaves behind ends with it", async () => {
      await spool.job(A, "sleep 600 & echo $! >child");
      await spool.job(B, `[ ! -e /proc/$(cat ../../../jobs/${A}/work/child)/exe ]`);
      await spool.run();
      expect([await exitOf(A), await exitOf(B)]).toEqual(["0\n", "0\n"]);
      expect(isGone(await spool.read(`jobs/${A}/work/child`))).toBe(true);
    });

    test("a child in its own session also ends, even after a short job", async () => {
      await spool.job(A, "setsid sh -c 'echo $$ >child; sleep 600' & until [ -s child ]; do :; done");
      await spool.run();
      expect(await exitOf(A)).toBe("0\n");
      expect(isGone(await spool.read(`jobs/${A}/work/child`))).toBe(true);
    });

    test("a child that ignores TERM also ends, with its own children", async () => {
      await spool.job(
        A,
        `sh -c 'trap "" TERM; sleep 600 & echo >ready; wait' & until [ -e ready ]; do :; done`,
      );
      await spool.run();
      expect(await exitOf(A)).toBe("0\n");
    });

    test("if it runs too long, all its processes end, and `exit` shows it", async () => {
      await remake({ settings: { limit: 1 } });
      await spool.job(A, "setsid sleep 600 & sleep 600; echo survived");
      await spool.start().ended;
      expect(await exitOf(A)).toBe("timed-out\n");
      expect(await spool.read(`jobs/${A}/out`)).toBe("");
      expect((await spool.events()).at(-2)).toMatch(new RegExp(`^ended ${A} 0 timed-out `));
    });

    test("if it ends in time, no process of the watch remains", async () => {
      await remake({ settings: { limit: 600 } });
      for (const key of many(10)) await spool.job(key, "true");
      await spool.start().ended;
      expect((await spool.events()).filter((event) => / 0 0 \d+$/.test(event))).toHaveLength(10);
    });
  });

  describe("which slot runs what", () => {
    test("jobs run in the order of their names, however each ends", async () => {
      for (const key of [C, A, B]) await spool.job(key, `echo ${key} >>"$HOME/log"; [ ${key} != ${A} ]`);
      await spool.run();
      expect(await home.read("log")).toBe(`${A}\n${B}\n${C}\n`);
      expect([await exitOf(A), await exitOf(B), await exitOf(C)]).toEqual(["1\n", "0\n", "0\n"]);
    });

    test("a second loop on the same slot exits; the first continues, also with jobs that arrive late", async () => {
      await spool.job(A, "until [ -e ../../../go ]; do sleep 0.01; done");
      const first = spool.start();
      await spool.untilEvent(`started ${A}`);
      await spool.job(B, "echo late");
      expect((await spool.start().ended).code).toBe(0);
      expect(await spool.events()).toEqual([expect.stringMatching(`^started ${A} 0 `)]);
      await writeFile(join(spool.dir, "go"), "");
      await first.ended;
      expect(await exitOf(A)).toBe("0\n");
      expect(await spool.read(`jobs/${B}/out`)).toBe("late\n");
    });

    test("slots share the jobs, and each runs exactly once", async () => {
      const keys = many(8);
      for (const key of keys) await spool.job(key, `echo ${key} >>"$HOME/log"`);
      await Promise.all([spool.slot(1), spool.slot(2)]);
      await Promise.all([spool.run(0), spool.run(1), spool.run(2)]);
      expect((await home.read("log")).trim().split("\n").toSorted()).toEqual(keys);
      for (const key of keys) expect(await exitOf(key)).toBe("0\n");
    });

    test("neither a job that the client has taken back nor an incomplete one is run", async () => {
      await spool.job(A, 'echo ran >"$HOME/log"');
      await writeFile(join(spool.dir, "jobs", A, "claim"), "client\n");
      await spool.job(B, "true");
      await rm(join(spool.dir, "jobs", B, "command"));
      await spool.run();
      expect(existsSync(home.path("log"))).toBe(false);
      expect(await spool.events()).toEqual(["idle 0"]);
    });

    test("a job that has run is not run again by a later loop", async () => {
      await spool.job(A, 'echo ran >>"$HOME/log"');
      await spool.run();
      await spool.run();
      expect(await home.read("log")).toBe("ran\n");
      expect((await spool.events()).slice(2)).toEqual(["idle 0", "idle 0"]);
    });

    test("a loop that was killed leaves its job running, and a new loop waits for it", async () => {
      await spool.job(A, "until [ -e ../../../go ]; do sleep 0.01; done; exit 4");
      await spool.job(B, "true");
      const killed = spool.start();
      await spool.untilEvent(`started ${A}`);
      killed.child.kill("SIGKILL");
      await killed.ended;
      const next = spool.start();
      await until("the new loop is there", () => loopPid() === next.child.pid);
      await writeFile(join(spool.dir, "go"), "");
      await next.ended;
      expect([await exitOf(A), await exitOf(B)]).toEqual(["4\n", "0\n"]);
    });

    test("the keeper of a loop that was killed takes no other job", async () => {
      await spool.job(A, "until [ -e ../../../go ]; do sleep 0.01; done");
      await spool.job(B, "true");
      const killed = spool.start();
      await spool.untilEvent(`started ${A}`);
      const [keeper = ""] = (await spool.read("slots/0/keeper")).split(" ");
      killed.child.kill("SIGKILL");
      await killed.ended;
      await writeFile(join(spool.dir, "go"), "");
      await until("the keeper is gone", () => isGone(keeper));
      expect(await exitOf(A)).toBe("0\n");
      expect(spool.exists(`jobs/${B}/claim`)).toBe(false);
    });

    test("a new loop begins no job while an earlier loop's keeper is alive", async () => {
      await home.write("bin/sleep", '#!/bin/sh\necho >>"$HOME/slept"\nexec /bin/sleep 0.02\n');
      const keeper = spawn("/bin/sleep", ["600"], { stdio: "ignore" });
      await writeFile(join(spool.dir, "slots/0/keeper"), liveLine(keeper.pid as number));
      await spool.job(A, `[ -e /proc/${keeper.pid}/exe ] && echo early; true`);
      const loop = spool.start();
      await until("the loop waits, or does not", async () => {
        return spool.exists(`jobs/${A}/exit`) || existsSync(home.path("slept"));
      });
      keeper.kill("SIGKILL");
      await loop.ended;
      expect(await spool.read(`jobs/${A}/out`)).toBe("");
      expect(await exitOf(A)).toBe("0\n");
    });

    test("a job that a loop could not begin does not affect the running job", async () => {
      await spool.job(B, "echo >made; until [ -e ../../../go ]; do sleep 0.01; done");
      const killed = spool.start();
      await spool.untilEvent(`started ${B}`);
      await until("it has a result", () => existsSync(join(spool.dir, "slots/0/work/made")));
      killed.child.kill("SIGKILL");
      await killed.ended;
      await spool.job(A, "true");
      await writeFile(join(spool.dir, "jobs", A, "claim"), "");
      const next = spool.start();
      await spool.untilEvent(`ended ${A} 0 lost`);
      await writeFile(join(spool.dir, "go"), "");
      await next.ended;
      expect([await exitOf(A), await exitOf(B)]).toEqual(["lost\n", "0\n"]);
      expect([await spool.results(A), await spool.results(B)]).toEqual([[], ["made"]]);
    });

    function loopPid(): number {
      const file = join(spool.dir, "slots/0/loop");
      return existsSync(file) ? Number(readFileSync(file, "utf8").split(" ")[0]) : 0;
    }

    test.each(["loop", "keeper"])("no job begins before the %s could write down its pid", async (name) => {
      await home.write("bin/sleep", '#!/bin/sh\necho >>"$HOME/slept"\nexec /bin/sleep 0.02\n');
      await spool.job(A, "true");
      // As on a full disk: it cannot be written.
      await mkdir(join(spool.dir, "slots/0", name));
      const loop = spool.start();
      await until("it waits, or does not", () => spool.exists(`jobs/${A}/exit`) || hasSlept(3));
      expect(spool.exists(`jobs/${A}/claim`)).toBe(false);
      await rm(join(spool.dir, "slots/0", name), { recursive: true });
      await loop.ended;
      expect(await exitOf(A)).toBe("0\n");
    });

    function hasSlept(times: number): boolean {
      return existsSync(home.path("slept")) && readFileSync(home.path("slept"), "utf8").length >= times;
    }

    test("a job that has an end does not begin, even for a slot that was slow to claim it", async () => {
      await spool.job(A, 'echo ran >"$HOME/log"');
      await writeFile(join(spool.dir, "jobs", A, "exit"), "lost\n");
      await spool.run();
      expect(existsSync(home.path("log"))).toBe(false);
      expect(await exitOf(A)).toBe("lost\n");
    });

    test("a claim whose process was only slow to write its name stays that process's", async () => {
      await spool.slot(1);
      await spool.job(A, "true");
      await writeFile(join(spool.dir, "jobs", A, "claim"), "");
      await writeFile(join(spool.dir, "slots/0/job"), `1 1 ${BOOT_ID} ${A}\n`);
      // The name is written while the loop waits for it a second time.
      await home.write(
        "bin/sleep",
        `#!/bin/sh\n[ ! -s ${spool.dir}/jobs/${A}/claim ] || echo slot 1 >${spool.dir}/jobs/${A}/claim\n`,
      );
      await spool.run();
      expect(spool.exists(`jobs/${A}/exit`)).toBe(false);
    });

    test("a job that ran when the machine went down is lost, and reported as lost", async () => {
      await spool.job(A, "true");
      await spool.job(B, "true");
      await writeFile(join(spool.dir, "jobs", A, "claim"), "slot 0\n");
      const before = liveLine(process.pid).replace(`${BOOT_ID}\n`, `old-boot ${A}\n`);
      await writeFile(join(spool.dir, "slots/0/job"), before);
      await spool.run();
      expect([await exitOf(A), await exitOf(B)]).toEqual(["lost\n", "0\n"]);
      expect((await spool.events())[0]).toMatch(new RegExp(`^ended ${A} 0 lost `));
    });

    test("the end of a job is reported even if the next job has no command", async () => {
      await spool.job(A, "true");
      await spool.job(B, "true");
      await writeFile(join(spool.dir, "jobs", B, "command"), "");
      await spool.run();
      const ends = (await spool.events()).filter((line) => line.startsWith("ended "));
      expect(ends.map((line) => line.split(" ").slice(0, 4).join(" "))).toEqual([
        `ended ${A} 0 0`,
        `ended ${B} 0 lost`,
      ]);
    });

    test("without flock, slots still take turns, also after the holder of a lock has died", async () => {
      const PATH = await pathWithout(home, "flock");
      await home.write(`.sshoal/lock@${HOST}.held`, `9999999 1 ${BOOT_ID}\n`);
      for (const key of many(4)) await spool.job(key, `echo ${key} >>"$HOME/log"`);
      await spool.slot(1);
      await Promise.all([spool.run(0, { PATH }), spool.run(1, { PATH })]);
      expect((await home.read("log")).trim().split("\n").toSorted()).toEqual(many(4));
    });
  });
});

function isGone(pid: string): boolean {
  const stat = `/proc/${pid.trim()}/stat`;
  return !existsSync(stat) || readFileSync(stat, "utf8").includes(") Z ");
}

/** The same tools, except one. */
async function pathWithout(home: Home, name: string): Promise<string> {
  await mkdir(home.path("without"));
  for (const dir of (home.env.PATH ?? "").split(":")) {
    for (const tool of await readdir(dir)) {
      if (tool !== name) await symlink(join(dir, tool), home.path("without", tool)).catch(() => undefined);
    }
  }
  return home.path("without");
}
