// Runs slot.sh: no process of a slot stays once it has nothing left to do.

import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runtimeFile } from "../../../src/remote/runtime-files.js";
import { saveGpus } from "../../rig/gpus.js";
import { until } from "../../rig/until.js";
import { type Home, makeHome, makeSpool, SHELLS, type Spool } from "./a-spool.js";

const A = "0000001-1";

/** home.close() fails if a process is left. One that sleeps for more than a second would be left. */
describe.each(SHELLS)("under %s", (_, shell) => {
  let home: Home;
  let spool: Spool;

  beforeEach(async () => {
    home = await makeHome(shell);
    await home.write(
      "bin/sleep",
      '#!/bin/sh\ncase $1 in 0.* | 1) set -- 0.02 ;; *) set -- 600 ;; esac\nexec /bin/sleep "$1"\n',
    );
    spool = await makeSpool(home, shell);
  });
  afterEach(() => home.close());

  const pidIn = (name: string) =>
    Number(readFileSync(join(spool.dir, "slots/0", name), "utf8").split(" ")[0]);

  async function waitingLoop() {
    // There is no card. The reason stays the same, unlike one with free memory.
    await spool.need(["need 1 1000 0", "cards 1 0 0 100 1 * 0"]);
    await spool.job(A, "true");
    const loop = spool.start();
    loop.ended.catch(() => undefined); // its log may be gone
    await spool.untilEvent("waits 0 ");
    return loop;
  }

  test("a loop that waits for room ends when its spool is moved away, and writes nothing more into it", async () => {
    const loop = await waitingLoop();
    const before = await spool.events();
    await rename(spool.dir, home.path("moved"));
    await until("it is gone", () => loop.child.exitCode !== null);
    const after = (await home.read("moved/slots/0/events")).trim().split("\n");
    expect(after.filter((line) => !line.startsWith("warned "))).toEqual(before);
  });

  test("a loop that waits for room ends when its spool is removed", async () => {
    const loop = await waitingLoop();
    // Its loop may write while it is removed.
    await rm(spool.dir, { recursive: true, maxRetries: 5 });
    await until("it is gone", () => loop.child.exitCode !== null);
  });

  test("a loop that waits for room ends when its jobs are taken back", async () => {
    const loop = await waitingLoop();
    await writeFile(join(spool.dir, "jobs", A, "claim"), "client\n");
    await loop.ended;
    expect((await spool.events()).at(-1)).toBe("idle 0");
  });

  test("a keeper that waits for room ends when its loop is killed, and takes no job", async () => {
    saveGpus(home.path("nvidia-smi.state"), { gpus: [{ memoryFree: 10 }] });
    const uuid = "GPU-00000000-0000-0000-0000-000000000000";
    await spool.room(["cpu 8000 0", "keep 0 0 0", "jobs -", `card 0 ${uuid} nvidia 24576 24268 0 - -`]);
    await spool.need(["need 1 1000 0", "cards 1 0 1000 750 1 * 0"]);
    await spool.job(A, "true");
    const loop = spool.start();
    await spool.untilEvent(`waits 0 ${A} - cards:1000:0 card:0:memory:1000:10:24576`);
    const keeper = pidIn("keeper");
    loop.child.kill("SIGKILL");
    await loop.ended;
    saveGpus(home.path("nvidia-smi.state"), { gpus: [{}] });
    await until("the keeper is gone", () => isGone(keeper));
    expect(spool.exists(`jobs/${A}/claim`)).toBe(false);
  });

  test("the watch over a job's time ends with the job, even if its keeper was killed", async () => {
    spool = await makeSpool(home, shell, { settings: { limit: 600 } });
    await spool.job(A, "until [ -e ../../../go ]; do sleep 0.01; done; exit 4");
    const loop = spool.start();
    await until(
      "it runs",
      () => spool.exists("slots/0/job") && Number.isInteger(pidIn("job")) && pidIn("job") > 0,
    );
    process.kill(pidIn("keeper"), "SIGKILL");
    await writeFile(join(spool.dir, "go"), "");
    await loop.ended;
    expect(await spool.read(`jobs/${A}/exit`)).toBe("4\n");
  });

  test("a process that waits for a job's start, to stop it, ends when the job is collected and freed", async () => {
    // Each check of the job waits for a call.
    await home.write(
      "bin/sleep",
      '#!/bin/sh\ntrue >"$HOME/asleep"; until rm "$HOME/wake" 2>/dev/null; do /bin/sleep 0.01; done\n',
    );
    await spool.job(A, "true");
    await writeFile(join(spool.dir, "jobs", A, "claim"), "slot 0\n");
    const script = `root=$HOME/.sshoal\n${runtimeFile("lib.sh")}\n${runtimeFile("control.sh")}\nserve\n`;
    const [program, ...words] = shell.words;
    const channel = spawn(program, [...words, "-c", script], { cwd: spool.dir, env: home.env });
    channel.stdin.end(`stop ${A}\n`);
    await until("it sleeps", () => existsSync(home.path("asleep")));
    await rm(join(spool.dir, "jobs", A), { recursive: true });
    await home.write("wake", "");
  });
});

function isGone(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return true;
  }
}
