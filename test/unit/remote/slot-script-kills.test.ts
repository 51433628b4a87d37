// Processes of a slot are killed while a job runs. A killed job never counts as done. SSHOAL_ALL_KILLS=1 tries every
// case.

import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { until } from "../../rig/until.js";
import { allKillCases, plainKillCases, sampleKillCases } from "../../torture/kill-cases.js";
import { runKillCases } from "../../torture/kill-matrix.js";
import { HAS_PLAIN_SLOTS, SHELLS } from "./a-spool.js";
import { useSpool } from "./own-spool.js";

const A = "0000001-1";
const sample = process.env.SSHOAL_ALL_KILLS ? allKillCases() : sampleKillCases();

test("the sample has every shell, runner, signal and set of targets, with and without a reboot", () => {
  const features = (cases: typeof sample) =>
    new Set(
      cases.flatMap(({ shell, runner, signal, targets, hitsGroup, reboots }) => [
        shell,
        runner,
        `reboots ${reboots}`,
        `group ${hitsGroup}`,
        targets.toSorted().join(" "),
        `${runner} ${signal}`,
        `${shell} ${reboots}`,
        `first ${targets[0]}`,
      ]),
    );
  expect(features(sample)).toEqual(features(allKillCases()));
});

test("any processes of a slot are killed: the job is reported as it ended, or as lost", async () => {
  const cases = HAS_PLAIN_SLOTS ? plainKillCases(sample) : sample;
  expect(await runKillCases(cases, { atOnce: 3 })).toEqual([]);
}, 3_600_000);

describe.each(SHELLS)("the exit code of a job without its keeper, under %s:", (_, shell) => {
  const { home, spool } = useSpool(shell);

  const pidIn = (name: string) =>
    Number(readFileSync(join(spool.dir, "slots/0", name), "utf8").split(" ")[0]);

  /** The keeper is killed once the line has made "begun"; the line continues once there is "go". */
  async function endOf(line: string, hits: NodeJS.Signals | null = null): Promise<string> {
    await spool.job(
      A,
      line.replace("WAIT", "echo >../../../begun; until [ -e ../../../go ]; do sleep 0.01; done"),
    );
    const loop = spool.start();
    await until("it has begun", () => spool.exists("begun"));
    process.kill(pidIn("keeper"), "SIGKILL");
    if (hits !== null) process.kill(pidIn("job"), hits);
    await writeFile(join(spool.dir, "go"), "");
    await loop.ended;
    return (await spool.read(`jobs/${A}/exit`)).trim();
  }

  test.each([
    ["the last command succeeds", "WAIT; true", "0"],
    ["the last command fails", "WAIT; false", "1"],
    ["exit in the middle", "WAIT; exit 7; true", "7"],
    ["exit in a function", "f() { exit 8; }; WAIT; f", "8"],
    ["set -e", "set -e; WAIT; false; true", "1"],
    [
      "its last command is killed by a signal that goes to all processes",
      "WAIT; sh -c 'kill -TERM $$'",
      "lost",
    ],
    ["its last command crashes", "WAIT; sh -c 'kill -SEGV $$'", "139"],
  ])("%s", async (_, line, end) => {
    expect(await endOf(line)).toBe(end);
  });

  test.each(["", " gpus=0"])("its duration is known if its loop saw it run%s", async (given) => {
    // Of the loop: the sampler sleeps longer.
    await home.write("bin/sleep", '#!/bin/sh\n[ "$1" != 1 ] || echo >>"$HOME/slept"\nexec /bin/sleep 0.02\n');
    await spool.job(A, "echo >../../../begun; until [ -e ../../../go ]; do /bin/sleep 0.01; done");
    const loop = spool.start();
    await until("it has begun", () => spool.exists("begun"));
    process.kill(pidIn("keeper"), "SIGKILL");
    await until("the loop waits for it", () => existsSync(home.path("slept")));
    const [start = ""] = await spool.events();
    const earlier = start.replace(/ 0 (\d+) /, (_, up) => ` 0 ${up - 10_000} `);
    await writeFile(join(spool.dir, "slots/0/events"), `${earlier}${given}\n`);
    await writeFile(join(spool.dir, "go"), "");
    await loop.ended;
    expect((await spool.events())[1]).toMatch(new RegExp(`^ended ${A} 0 0 1\\d{5}$`));
  });

  test("its own trap runs, and decides its exit code", async () => {
    expect(await endOf("trap 'echo caught; exit 9' TERM; WAIT", "SIGTERM")).toBe("9");
    expect(await spool.read(`jobs/${A}/out`)).toBe("caught\n");
  });

  test("a signal that it ignores does not affect it", async () => {
    expect(await endOf("trap '' TERM; WAIT; exit 6", "SIGTERM")).toBe("6");
  });

  test.each(["SIGUSR1", "SIGALRM", "SIGPIPE", "SIGTERM", "SIGHUP"] as const)(
    "%s ends it: there is no exit code",
    async (signal) => {
      expect(await endOf("true; WAIT; exit 0", signal)).toBe("lost");
    },
  );

  test("a line has no trap for a signal that could end it", async () => {
    await spool.job(A, "trap | grep -vE 'EXIT|INT|QUIT'; true");
    await spool.run();
    expect(await spool.read(`jobs/${A}/out`)).toBe("");
  });
});
