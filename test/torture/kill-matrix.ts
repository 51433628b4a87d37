// Kills the processes of real slots in every way of kill-cases.ts, and audits the reports about their jobs.

import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pLimit from "p-limit";
import { killAll, pidsWithHome, signalAll } from "../rig/processes.js";
import { until } from "../rig/until.js";
import { type Home, makeHome, makeSpool, SHELLS, type Spool } from "../unit/remote/a-spool.js";
import {
  allowedEnds,
  allowedNextEnds,
  endsBy,
  isJobKilled,
  isKept,
  type KillCase,
  nameOfCase,
  OWN_CODE,
  type Target,
} from "./kill-cases.js";

const A = "0000001-1";
const B = "0000002-1";
const OTHER_BOOT = "00000000-0000-4000-8000-000000000000";

/** Resolves with one line per problem. */
export async function runKillCases(
  cases: readonly KillCase[],
  options: { atOnce: number; onCase?: (done: number) => void },
): Promise<string[]> {
  const limit = pLimit(options.atOnce);
  let done = 0;
  const wrong = await Promise.all(
    cases.map((kill) =>
      limit(async () => {
        const found = await runKillCase(kill).catch((error: Error) => [error.message]);
        options.onCase?.(++done);
        return found.map((text) => `${nameOfCase(kill)}: ${text}`);
      }),
    ),
  );
  return wrong.flat();
}

/** One slot, one job that is killed, and one that waits behind it. */
async function runKillCase(kill: KillCase): Promise<string[]> {
  const shell = SHELLS.find(([name]) => name === kill.shell)?.[1] ?? { words: ["sh"] as const };
  const home = await makeHome(shell);
  try {
    const spool = await makeSpool(home, shell, { batch: `k-${randomBytes(4).toString("hex")}` });
    await spool.job(A, waitingJob(kill.runner));
    await spool.job(B, `sh -c 'echo ${B} >>"$HOME/ran"'`);
    await hit(kill, spool, home);
    return await audit(kill, spool, home);
  } finally {
    killAll(pidsWithHome(home.dir));
    await home.close();
  }
}

/** Every command of it before the last one succeeds. A list is not a plain command, so it gets its own shell. */
function waitingJob(runner: KillCase["runner"]): string {
  const work = `echo ${A} >>"$HOME/ran"; until [ -e ../../../go ]; do sleep 0.01; done; exit ${OWN_CODE}`;
  return runner === "fork" ? `sh -c '${work}'` : `true; ${work}`;
}

async function hit(kill: KillCase, spool: Spool, home: Home): Promise<void> {
  const first = spool.start();
  await until("the job runs", () => hasRun(home) && isNamed(spool, A));
  const pids = kill.targets.map((target) => pidOf(target, spool, first.child.pid as number));
  const aims = pids.map((pid, index) => (kill.targets[index] === "job" && kill.hitsGroup ? -pid : pid));
  signalAll(aims, kill.signal);
  if (endsBy(kill.signal)) await until("those that were hit are gone", () => pids.every(isGone));
  if (isJobKilled(kill) && isKept(kill)) await until("its end is known", () => hasEnd(spool, A));
  if (kill.reboots) reboot(spool, home);
  const isLoopGone = kill.reboots || (kill.targets.includes("loop") && endsBy(kill.signal));
  const last = isLoopGone ? spool.start() : first;
  writeFileSync(join(spool.dir, "go"), "");
  await last.ended;
}

function hasRun(home: Home): boolean {
  return existsSync(home.path("ran")) && readFileSync(home.path("ran"), "utf8") === `${A}\n`;
}

function isNamed(spool: Spool, key: string): boolean {
  const file = join(spool.dir, "slots/0/job");
  return existsSync(file) && readFileSync(file, "utf8").endsWith(` ${key}\n`);
}

/** The file is there a moment before its line is. */
function hasEnd(spool: Spool, key: string): boolean {
  const file = join(spool.dir, "jobs", key, "exit");
  return existsSync(file) && readFileSync(file, "utf8").endsWith("\n");
}

function pidOf(target: Target, spool: Spool, loop: number): number {
  if (target === "loop") return loop;
  if (target === "forker") return forkerOf(loop);
  return Number(readFileSync(join(spool.dir, "slots/0", target), "utf8").split(" ")[0]);
}

/** Throws if there is none. */
function forkerOf(loop: number): number {
  const children = readFileSync(`/proc/${loop}/task/${loop}/children`, "utf8").trim().split(" ");
  const isForker = (pid: string) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("fork.bash");
  const forker = children.find((pid) => pid !== "" && isForker(pid));
  if (forker === undefined) throw new Error("the slot has no forker");
  return Number(forker);
}

function isGone(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return true;
  }
}

/** Every process ends at once, and the files they wrote name another boot. */
function reboot(spool: Spool, home: Home): void {
  killAll(pidsWithHome(home.dir));
  for (const name of ["loop", "keeper", "job"]) {
    const file = join(spool.dir, "slots/0", name);
    const [pid, start, , ...key] = readFileSync(file, "utf8").trimEnd().split(" ");
    if (start !== undefined) writeFileSync(file, `${[pid, start, OTHER_BOOT, ...key].join(" ")}\n`);
  }
}

async function audit(kill: KillCase, spool: Spool, home: Home): Promise<string[]> {
  const events = await spool.events();
  const ran = (await home.read("ran")).trim().split("\n");
  const wrong: string[] = [];
  for (const [key, allowed] of [
    [A, allowedEnds(kill)],
    [B, allowedNextEnds(kill)],
  ] as const) {
    const end = hasEnd(spool, key) ? (await spool.read(`jobs/${key}/exit`)).trim() : "none";
    if (!allowed.includes(end)) wrong.push(`${key} is ${end}, not ${allowed.join(" or ")}`);
    const ends = events.filter((event) => event.startsWith(`ended ${key} `));
    if (ends.length !== 1 || !ends[0]?.startsWith(`ended ${key} 0 ${end} `))
      wrong.push(`events: ${ends.join("; ")}`);
    const times = ran.filter((each) => each === key).length;
    if (times > 1 || (times === 0 && end !== "lost")) wrong.push(`${key} ran ${times} times`);
  }
  return wrong;
}
