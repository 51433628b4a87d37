// Runs slot.sh with jobs that a fork of its bash runs, and with the same jobs in their own shells.

import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../rig/until.js";
import { HAS_PLAIN_SLOTS, type Home, makeHome, makeSpool, type Spool } from "./a-spool.js";

const A = "0000001-1";
const B = "0000002-1";
const SHELL = { words: ["sh"] } as const;
/** One plain command that runs until there is a file "go" in the spool. */
const WAITS = "sh -c 'until [ -e ../../../go ]; do sleep 0.01; done; exit 4'";
/** Prints its parent: a fork, or the job's own shell. */
const TELLS_PARENT = `sh -c 'tr "\\0" " " <"/proc/$PPID/cmdline"'`;

let home: Home;
let spool: Spool;
beforeEach(async () => {
  home = await makeHome(SHELL);
  spool = await makeSpool(home, SHELL);
});
afterEach(() => home.close());

/** What TELLS_PARENT prints. */
const parentOfPlainCommand = (key: string) => (HAS_PLAIN_SLOTS ? `jobs/${key}/command` : "fork.bash");
const exitOf = (key: string) => spool.read(`jobs/${key}/exit`);
const go = () => writeFile(join(spool.dir, "go"), "");

/** The first word of what a slot wrote about one of its processes. */
function pidIn(file: string): number {
  return Number(readFileSync(join(spool.dir, "slots/0", file), "utf8").split(" ")[0]);
}

/** The start is logged a moment before the job writes its own pid. */
async function untilRunning(key: string): Promise<void> {
  const file = join(spool.dir, "slots/0/job");
  await until(
    `${key} is written down`,
    () => existsSync(file) && readFileSync(file, "utf8").endsWith(` ${key}\n`),
  );
}

function parentOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

function stateOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.charAt(stat.lastIndexOf(")") + 2);
}

test("forks of one bash, if there is one, run plain commands; others get their own shells", async () => {
  await spool.job(A, TELLS_PARENT);
  await spool.job(B, `true; ${TELLS_PARENT}`);
  await spool.run();
  expect(await spool.read(`jobs/${A}/out`)).toContain(parentOfPlainCommand(A));
  expect(await spool.read(`jobs/${B}/out`)).toContain(`jobs/${B}/command`);
});

test("plain slots: each job has its own shell, and the slot has no fifos and no helpers", async () => {
  spool = await makeSpool(home, SHELL, { settings: { plain_slots: "yes" } });
  await spool.job(A, TELLS_PARENT);
  await spool.run();
  expect(await spool.read(`jobs/${A}/out`)).toContain(`jobs/${A}/command`);
  expect([spool.exists("slots/0/run"), spool.exists("slots/0/ask")]).toEqual([false, false]);
});

test.each([
  ["BASH_ENV", "/dev/null"],
  ["SHELLOPTS", "noglob"],
])("if %s sets something for every bash, each job has its own bash", async (name, value) => {
  await spool.job(A, TELLS_PARENT);
  await spool.run(0, { [name]: value });
  expect(await spool.read(`jobs/${A}/out`)).toContain(`jobs/${A}/command`);
});

test("a function of the environment, if sh keeps it, is also a plain command", async () => {
  spool = await makeSpool(home, { words: ["bash"] });
  await spool.job(A, "greet you");
  await spool.run(0, { "BASH_FUNC_greet%%": '() {  echo "hello $1"; }' });
  expect(await spool.read(`jobs/${A}/out`)).toBe("hello you\n");
});

/** Everything that a job can see or leave is the same in both cases. */
test.each([
  "echo -e 'a\\tb' \"c d\" ~ *",
  "printf '%s\\n' one > said 2>&1",
  "env",
  "sh -c 'umask; ulimit -n; pwd; ls -l /proc/self/fd | sed \"s/.* [0-9:]* //\"'",
  "cat",
  "no-such-program",
  "./no-such-file",
  "sh -c 'exit 7'",
  "sh -c 'kill -TERM $$'",
  "false",
  "ls /nowhere",
  "cat < nowhere",
])("a fork behaves like a job's own shell: %s", async (line) => {
  await spool.job(A, line);
  await spool.job(B, `${line};`); // a list is not plain
  await spool.run();
  const seen = async (key: string) => {
    const files = ["out", "err", "exit"].map((name) => spool.read(`jobs/${key}/${name}`));
    return [...(await Promise.all(files)), ...(await spool.results(key))].map((text) =>
      text
        .replaceAll(key, "KEY")
        // Its own name, its parent and its shell level may differ.
        .replace(/^(_|SHLVL|OLDPWD|PWD)=.*\n/gm, "")
        .replace(/pipe:\[\d+\]|\/proc\/\d+/g, "")
        .split("\n")
        .toSorted(),
    );
  };
  expect(await seen(A)).toEqual(await seen(B));
});

test("in place, a fork runs in the user's directory, and has its own directory for results", async () => {
  await home.write("mine/input", "here\n");
  spool = await makeSpool(home, SHELL, { settings: { in_place: home.path("mine") } });
  await spool.job(A, `sh -c 'cat input; touch "$SSHOAL_RESULTS/made"'`, "@");
  await spool.job(B, TELLS_PARENT, "@");
  await spool.run();
  expect(await spool.read(`jobs/${A}/out`)).toBe("here\n");
  expect([await spool.results(A), await spool.results(B)]).toEqual([["made"], []]);
  // The next job gets what this one left untouched.
  expect(spool.exists(`jobs/${B}/work`)).toBe(false);
  expect(await spool.read(`jobs/${B}/out`)).toContain(parentOfPlainCommand(B));
});

test("a job that is only suspended has not ended, and continues when it is resumed", async () => {
  await spool.job(A, WAITS);
  const loop = spool.start();
  await untilRunning(A);
  const job = pidIn("job");
  process.kill(-job, "SIGSTOP");
  await until("it is stopped", () => stateOf(job) === "T");
  await go();
  expect(spool.exists(`jobs/${A}/exit`)).toBe(false);
  process.kill(-job, "SIGCONT");
  await loop.ended;
  expect(await exitOf(A)).toBe("4\n");
});

test("a job that kills its own group kills no other process", async () => {
  await spool.job(A, "sh -c 'kill -KILL 0'");
  await spool.job(B, "true");
  await spool.start().ended; // bash prints "Killed"
  expect([await exitOf(A), await exitOf(B)]).toEqual(["137\n", "0\n"]);
});

test("a child that it leaves behind ends with it, even in its own session", async () => {
  await spool.job(A, `sh -c 'sleep 600 & setsid sleep 600 & echo $! >child'`);
  await spool.run(); // home.close() checks that nothing is left
  expect([await exitOf(A), await spool.results(A)]).toEqual(["0\n", ["child"]]);
});

test("too long: all its processes end", async () => {
  spool = await makeSpool(home, SHELL, { settings: { limit: 1 } });
  await spool.job(A, "sh -c 'setsid sleep 600 & exec sleep 600'");
  await spool.start().ended;
  expect(await exitOf(A)).toBe("timed-out\n");
});

test.each([
  ["its keeper", () => [pidIn("keeper")]],
  ["the process that forked it", () => [parentOf(pidIn("job"))]],
  ["both", () => [pidIn("keeper"), parentOf(pidIn("job"))]],
])("%s is killed: the job continues, its code counts, and the slot takes the next", async (_, whom) => {
  await spool.job(A, WAITS);
  await spool.job(B, TELLS_PARENT);
  const loop = spool.start();
  await untilRunning(A);
  for (const pid of new Set(whom())) process.kill(pid, "SIGKILL");
  await go();
  await loop.ended;
  expect([await exitOf(A), await exitOf(B)]).toEqual(["4\n", "0\n"]);
  expect((await spool.events()).filter((event) => event.startsWith("started"))).toHaveLength(2);
  expect(await spool.read(`jobs/${B}/out`)).toContain(parentOfPlainCommand(B));
});

test("all processes but the job are killed: a new loop waits for it, and its code counts", async () => {
  await spool.job(A, WAITS);
  const killed = spool.start();
  await untilRunning(A);
  process.kill(-(killed.child.pid as number), "SIGKILL");
  await killed.ended;
  const next = spool.start();
  await go();
  await next.ended;
  expect(await exitOf(A)).toBe("4\n");
});

test("a job that was not written down before its keeper was gone does not run, and is lost", async () => {
  // Between taking the job and its start: the fork is held until the keeper is gone.
  const begin = readFileSync(join(spool.dir, "begin.sh"), "utf8");
  const held = `kill -KILL "$SSHOAL_KEEPER"; while kill -0 "$SSHOAL_KEEPER"; do :; done 2>/dev/null\n`;
  await writeFile(join(spool.dir, "begin.sh"), `${held}${begin}`);
  await spool.job(A, "touch ../../../has-run");
  await spool.job(B, "touch ../../../has-run; true");
  await spool.start().ended;
  expect([await exitOf(A), await exitOf(B)]).toEqual(["lost\n", "lost\n"]);
  expect(existsSync(join(spool.dir, "has-run"))).toBe(false);
});
