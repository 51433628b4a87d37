// Runs slot.sh for real, with jobs that a fork of its bash runs, and with the same jobs in shells of their own.

import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../rig/until.js";
import { HAS_PLAIN_SLOTS, type Home, makeHome, makeSpool, type Spool } from "./a-spool.js";

const A = "0000001-1";
const B = "0000002-1";
const SHELL = { words: ["sh"] } as const;
/** One plain command, until there is a file "go" in the spool. */
const WAITS = "sh -c 'until [ -e ../../../go ]; do sleep 0.01; done; exit 4'";
/** Who its parent is: a fork, or a shell of the job's own. */
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

/** Started is said a moment before; who it is, by the job itself. */
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

test("plain commands are run by forks of one bash, if it is there, others in shells of their own", async () => {
  await spool.job(A, TELLS_PARENT);
  await spool.job(B, `true; ${TELLS_PARENT}`);
  await spool.run();
  expect(await spool.read(`jobs/${A}/out`)).toContain(parentOfPlainCommand(A));
  expect(await spool.read(`jobs/${B}/out`)).toContain(`jobs/${B}/command`);
});

test("plain slots: each job has a shell of its own, and the slot neither fifos nor helpers", async () => {
  spool = await makeSpool(home, SHELL, { settings: { plain_slots: "yes" } });
  await spool.job(A, TELLS_PARENT);
  await spool.run();
  expect(await spool.read(`jobs/${A}/out`)).toContain(`jobs/${A}/command`);
  expect([spool.exists("slots/0/run"), spool.exists("slots/0/ask")]).toEqual([false, false]);
});

test.each([
  ["BASH_ENV", "/dev/null"],
  ["SHELLOPTS", "noglob"],
])("where %s tells every bash something, each job has one of its own", async (name, value) => {
  await spool.job(A, TELLS_PARENT);
  await spool.run(0, { [name]: value });
  expect(await spool.read(`jobs/${A}/out`)).toContain(`jobs/${A}/command`);
});

test("a function of the environment, where sh leaves it there, is a plain command as well", async () => {
  spool = await makeSpool(home, { words: ["bash"] });
  await spool.job(A, "greet you");
  await spool.run(0, { "BASH_FUNC_greet%%": '() {  echo "hello $1"; }' });
  expect(await spool.read(`jobs/${A}/out`)).toBe("hello you\n");
});

/** Whatever a job can see or leave, it is the same either way. */
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
])("a fork does as a shell of its own: %s", async (line) => {
  await spool.job(A, line);
  await spool.job(B, `${line};`); // a list is not plain
  await spool.run();
  const seen = async (key: string) => {
    const files = ["out", "err", "exit"].map((name) => spool.read(`jobs/${key}/${name}`));
    return [...(await Promise.all(files)), ...(await spool.results(key))].map((text) =>
      text
        .replaceAll(key, "KEY")
        // What it is called itself, whose child it is and how deep it is in shells is nobody's business.
        .replace(/^(_|SHLVL|OLDPWD|PWD)=.*\n/gm, "")
        .replace(/pipe:\[\d+\]|\/proc\/\d+/g, "")
        .split("\n")
        .toSorted(),
    );
  };
  expect(await seen(A)).toEqual(await seen(B));
});

test("in place, a fork runs where the user is, and has a directory for results of its own", async () => {
  await home.write("mine/input", "here\n");
  spool = await makeSpool(home, SHELL, { settings: { in_place: home.path("mine") } });
  await spool.job(A, `sh -c 'cat input; touch "$SSHOAL_RESULTS/made"'`, "@");
  await spool.job(B, TELLS_PARENT, "@");
  await spool.run();
  expect(await spool.read(`jobs/${A}/out`)).toBe("here\n");
  expect([await spool.results(A), await spool.results(B)]).toEqual([["made"], []]);
  expect(await spool.read(`jobs/${B}/out`)).toContain(parentOfPlainCommand(B));
});

test("a job that is stopped has not ended, and goes on when it is continued", async () => {
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

test("what kills its own group takes nobody else along", async () => {
  await spool.job(A, "sh -c 'kill -KILL 0'");
  await spool.job(B, "true");
  await spool.start().ended; // bash says "Killed"
  expect([await exitOf(A), await exitOf(B)]).toEqual(["137\n", "0\n"]);
});

test("a child it leaves behind ends with it, also one with a session of its own", async () => {
  await spool.job(A, `sh -c 'sleep 600 & setsid sleep 600 & echo $! >child'`);
  await spool.run(); // home.close() looks that nothing is left
  expect([await exitOf(A), await spool.results(A)]).toEqual(["0\n", ["child"]]);
});

test("too long: everything of it ends", async () => {
  spool = await makeSpool(home, SHELL, { settings: { limit: 1 } });
  await spool.job(A, "sh -c 'setsid sleep 600 & exec sleep 600'");
  await spool.start().ended;
  expect(await exitOf(A)).toBe("timed-out\n");
});

test.each([
  ["its keeper", () => [pidIn("keeper")]],
  ["whoever forked it", () => [parentOf(pidIn("job"))]],
  ["both", () => [pidIn("keeper"), parentOf(pidIn("job"))]],
])("%s is killed: the job goes on, its word counts, and the slot takes the next", async (_, whom) => {
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

test("everybody but the job is killed: a new loop waits for it, and its word counts", async () => {
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
  // Between taking the job and its beginning: the fork is held until the keeper is gone.
  const begin = readFileSync(join(spool.dir, "begin.sh"), "utf8");
  const held = `kill -KILL "$SSHOAL_KEEPER"; while kill -0 "$SSHOAL_KEEPER"; do :; done 2>/dev/null\n`;
  await writeFile(join(spool.dir, "begin.sh"), `${held}${begin}`);
  await spool.job(A, "touch ../../../has-run");
  await spool.job(B, "touch ../../../has-run; true");
  await spool.start().ended;
  expect([await exitOf(A), await exitOf(B)]).toEqual(["lost\n", "lost\n"]);
  expect(existsSync(join(spool.dir, "has-run"))).toBe(false);
});
