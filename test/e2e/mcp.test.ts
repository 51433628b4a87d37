// `sshoal mcp`: a conversation of real requests over stdio, without a queue service.

import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type JsonEvent, waitFor } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { type McpRig, startMcp } from "../rig/mcp-client.js";
import { useOwnHome } from "../rig/own-home.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";

const own = useOwnHome();
const SMALL = { gpus: 0, cpus: 0.01, memoryMb: 10 };
const MOST_BYTES = 32_768;
const TOOLS = ["probe", "run", "enqueue", "status", "why", "logs", "results", "stop", "retry"];

const start = () => startMcp({ cwd: own.work.dir, home: own.home.dir });
const sshoal = (...args: string[]) =>
  runCommand(args, { program: "sshoal", cwd: own.work.dir, home: own.home.dir });

/** As an agent does it: with the cursor of each answer, until no job is left to end. */
async function untilEnded(mcp: McpRig, batch: string): Promise<Map<string, JsonEvent>> {
  const rows = new Map<string, JsonEvent>();
  let cursor: string | undefined;
  for (;;) {
    const ask = cursor === undefined ? {} : { cursor, waitSeconds: 30 };
    const answer = await mcp.call("status", { batch, ...ask });
    for (const row of answer.rows) rows.set(row.name, row);
    cursor = answer.cursor;
    const { waiting = 0, running = 0 } = answer.counts;
    const isCollected = [...rows.values()].every(({ state, collected }) => collected || state === "skipped");
    if (waiting + running === 0 && isCollected && !answer.hasMore) return rows;
  }
}

const untilState = (mcp: McpRig, state: string) =>
  until(`a job is ${state}`, async () => (await mcp.call("status")).counts[state] > 0);

test("a conversation: probe, run, status, logs, results, why, stop and retry", async () => {
  const mcp = await start();
  const { result } = await mcp.ask("tools/list");
  expect(result.tools.map(({ name }: JsonEvent) => name)).toEqual(TOOLS);
  const { machines } = await mcp.call("probe", SMALL);
  expect(machines).toMatchObject([{ machine: "localhost", kind: "probed", capacity: { cpus: {} } }]);
  expect(machines[0].slotCount).toBeGreaterThan(0);

  const started = await mcp.call("run", {
    name: "first",
    commands: ["echo hello; echo 'sshoal: acc=0.5'", { name: "bad", command: "echo oops >&2; exit 3" }],
    ...SMALL,
  });
  expect(started).toMatchObject({ script: "first.sh", jobs: 2, machines: ["localhost"] });
  expect(started.firstJobs.map(({ name }: JsonEvent) => name)).toEqual(["first.sh.1", "first.sh.bad"]);
  const ended = await untilEnded(mcp, "first.sh");
  expect(ended.get("first.sh.1")).toMatchObject({ state: "succeeded", collected: true });
  expect(ended.get("first.sh.bad")).toMatchObject({ state: "failed", outcome: { kind: "exited", code: 3 } });

  const { logs } = await mcp.call("logs", { jobs: ["first.sh"] });
  expect(logs).toMatchObject([
    { name: "first.sh.1", stream: "out", text: "hello\nsshoal: acc=0.5", firstLine: 1, nextLine: 3 },
    { name: "first.sh.bad", stream: "err", text: "oops", totalLines: 1 },
  ]);
  const { rows, total } = await mcp.call("results", { batch: "first.sh", sort: "acc", descending: true });
  expect(total).toBe(2);
  expect(rows[0]).toMatchObject({ name: "first.sh.1", metrics: { acc: 0.5 } });

  await mcp.call("run", {
    name: "long",
    commands: [
      { name: "first", command: waitFor("go") },
      { name: "second", command: "true", after: ["first"] },
    ],
    ...SMALL,
  });
  await untilState(mcp, "running");
  const why = await mcp.call("why", { jobs: ["long.sh.second"] });
  expect(why.rows).toMatchObject([{ name: "long.sh.second", dependency: { name: "long.sh.first" } }]);
  const stopped = await mcp.call("stop", { jobs: ["long.sh"] });
  expect(stopped.rows).toMatchObject([{ name: "long.sh.first", state: "stopped" }, { state: "stopped" }]);
  await own.work.write("go", "");
  const again = await mcp.call("retry", { jobs: ["long.sh.first"], waitSeconds: 40 });
  expect(again.client).toMatchObject({ state: "ended", exitCode: 1 });
  const late = (await mcp.call("status", { batch: "long.sh" })).rows as JsonEvent[];
  expect(late.find(({ name }) => name === "long.sh.first")).toMatchObject({ state: "succeeded", attempt: 2 });
  expect(await mcp.end()).toMatchObject({ code: 0, stderr: "" });
});

test("stdout has only messages of the protocol, whatever comes on stdin", async () => {
  const mcp = await start();
  mcp.raw('hello\n{"jsonrpc": "2.0"}\n\n[1,2]\n{"half": \n');
  mcp.raw(`${JSON.stringify({ jsonrpc: "2.0", id: 900, method: "no/such", params: {} })}\n`);
  expect(await mcp.fail("status", { directory: "no-such-directory" })).toContain("there is no directory");
  const { error } = await mcp.ask("tools/call", { name: "stauts", arguments: {} });
  expect(error.message).toContain("did you mean status?");
  const { code, stderr } = await mcp.end();
  expect(code).toBe(0);
  expect(stderr).toContain("this is no message of the protocol");
  for (const line of mcp.lines()) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
});

test("mistakes in arguments are all reported at once, with what to do", async () => {
  const mcp = await start();
  const text = await mcp.fail("run", {
    comands: ["true"],
    gpus: -1,
    machines: ["--json"],
    env: { "A B": "x" },
  });
  expect(text).toContain("error: comands: there is no such argument\ntry: did you mean commands?");
  expect(text).toContain("error: gpus: must be a number from 0 to 1000, got -1");
  expect(text).toContain('error: machines[0]: must be one line that does not begin with -, got "--json"');
  expect(text).toContain("error: env.A B: must be the name of a variable");
  expect(await mcp.fail("run", { ...SMALL })).toContain("what is to run?");
  expect(await mcp.fail("run", { commands: ["true"], script: "x.sh" })).toContain("give only one");
  for (const command of ["echo a\necho b", "echo a\n\necho b", "#@ --name x\necho a"])
    expect(await mcp.fail("run", { commands: [command], ...SMALL })).toContain(
      "commands[0]: is not exactly one",
    );
  const open = await mcp.fail("run", { commands: ["true", "echo 'open"], ...SMALL });
  expect(open).toMatch(/^error: commands\[1\]: unexpected EOF/);
  expect(await mcp.fail("run", { commands: ["# nothing"], ...SMALL })).toContain("there is no job");
  expect(await mcp.fail("run", { commands: ["true"], name: "../x", ...SMALL })).toContain("is no name");
  expect(await mcp.fail("run", { commands: ["true"], env: { PATH: "/x" } })).toContain("would change sshoal");
  expect(await mcp.fail("enqueue")).toBe("error: commands: this argument is needed");
  expect(await mcp.fail("status", { cursor: "c99" })).toContain("is not known");
  // Errors of the command line, in its words.
  expect(await mcp.fail("stop")).toBe((await sshoal("stop")).stderr.trim());
  expect(await mcp.fail("logs", { jobs: ["7"] })).toBe((await sshoal("logs", "7")).stderr.trim());
  expect(await mcp.fail("run", { script: "no.sh" })).toContain("no.sh: there is no such script");
  expect(readdirSync(own.work.dir)).toEqual([]);
  await mcp.end();
});

test("a batch that no machine can run is an error with the reason", async () => {
  const mcp = await start();
  const text = await mcp.fail("run", { commands: ["true"], gpus: 0, cpus: 9999 });
  expect(text).toMatch(/^error: no usable machine\nlocalhost: .*9999/);
  await mcp.end();
});

test("commands are data: quotes, line breaks and shell signs reach the job as they are", async () => {
  const mcp = await start();
  const odd = `printf '%s|' 'a  b' "it's" '$HOME' '*' '; exit 9'`;
  const document = "cat <<'END'\n#@ --num-cpus x\n\n  two\nEND";
  const batch = { name: "odd", commands: [odd, document], ...SMALL };
  await mcp.call("run", { ...batch, waitSeconds: 40 });
  const { logs } = await mcp.call("logs", { jobs: ["odd.sh"], stream: "out" });
  expect(logs.map(({ text }: JsonEvent) => text)).toEqual([
    "a  b|it's|$HOME|*|; exit 9|",
    "#@ --num-cpus x\n\n  two",
  ]);
  await mcp.end();
});

test("the same call continues its batch, other commands of that name are refused, and replace runs what is new", async () => {
  const mcp = await start();
  const batch = { name: "twice", ...SMALL, waitSeconds: 40 };
  const commands = ["echo one >> ran", "echo two >> ran"];
  await mcp.call("run", { ...batch, commands });
  await mcp.call("run", { ...batch, commands });
  expect(await own.work.read("ran")).toMatch(/^(one\ntwo|two\none)\n$/);
  const other = { ...batch, commands: [commands[0], "echo three >> ran"] };
  expect(await mcp.fail("run", other)).toContain("exists with other commands");
  await mcp.call("run", { ...other, replace: true });
  expect((await own.work.read("ran")).split("\n").filter(Boolean).sort()).toEqual(["one", "three", "two"]);
  await own.work.write("mine.sh", "echo mine\n");
  expect(await mcp.fail("run", { ...other, name: "mine", replace: true })).toContain("no call of this tool");
  await mcp.end();
});

test("values of env reach jobs, and are in no record and no command line", async () => {
  const mcp = await start();
  const secret = "hidden-value-73";
  await mcp.call("run", {
    name: "env",
    commands: [`printf %s "$TOKEN" | wc -c; ${waitFor("go")}`],
    env: { TOKEN: secret },
    ...SMALL,
  });
  await untilState(mcp, "running");
  expect(commandLines().filter((line) => line.includes(secret))).toEqual([]);
  await own.work.write("go", "");
  await untilEnded(mcp, "env.sh");
  expect((await mcp.call("logs", { jobs: ["env.sh"] })).logs[0].text).toBe(`${secret.length}`);
  for (const path of readdirSync(own.work.dir, { recursive: true, encoding: "utf8", withFileTypes: true }))
    if (path.isFile()) expect(readFileSync(`${path.parentPath}/${path.name}`, "utf8")).not.toContain(secret);
  await mcp.end();
});

function commandLines(): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    try {
      return /^\d+$/.test(pid) ? [readFileSync(`/proc/${pid}/cmdline`, "utf8")] : [];
    } catch {
      return [];
    }
  });
}

test("jobs and the client that collects them go on when stdin ends", async () => {
  const mcp = await start();
  await mcp.call("run", { name: "on", commands: [`${waitFor("go")}; echo late`, "echo next"], ...SMALL });
  await untilState(mcp, "running");
  expect(await mcp.end()).toMatchObject({ code: 0 });
  await own.work.write("go", "");
  await until("all results are collected", async () => {
    const { stdout } = await sshoal("status", "--json");
    return stdout.match(/"collected":true/g)?.length === 2;
  });
  expect(await own.work.read("job_results/on.sh.1.out")).toBe("late\n");
  const again = await start();
  expect((await again.call("status")).counts).toEqual({ succeeded: 2 });
  await again.end();
});

test("a batch whose client was killed is continued, and its results are collected", async () => {
  const mcp = await start();
  const commands = [`${waitFor("go")}; echo one`, "echo two"];
  const { client } = await mcp.call("run", { name: "cut", commands, ...SMALL });
  await untilState(mcp, "running");
  process.kill(client.pid, "SIGKILL");
  await until("the end of the client is reported", async () => {
    const { clients = [] } = await mcp.call("status");
    return clients.some(({ state }: JsonEvent) => state === "ended");
  });
  await own.work.write("go", "");
  const { status } = await mcp.call("run", { batch: "cut.sh", waitSeconds: 40 });
  expect(status.counts).toEqual({ succeeded: 2 });
  expect(status.rows.every(({ collected }: JsonEvent) => collected)).toBe(true);
  expect(await mcp.fail("run", { batch: "cut.sh", gpus: 1 })).toContain("keeps its options");
  await mcp.end();
});

test("a request that is taken back stops no job, and the next one is answered", async () => {
  const mcp = await start();
  await mcp.call("run", { name: "back", commands: [waitFor("go")], ...SMALL });
  await untilState(mcp, "running");
  const requestId = mcp.send("tools/call", { name: "status", arguments: { waitSeconds: 50 } });
  mcp.notify("notifications/cancelled", { requestId });
  const running = mcp.send("tools/call", { name: "run", arguments: { batch: "back.sh", waitSeconds: 50 } });
  mcp.notify("notifications/cancelled", { requestId: running });
  expect((await mcp.call("status")).counts).toEqual({ running: 1 });
  expect(mcp.lines().some((line) => JSON.parse(line).id === requestId)).toBe(false);
  await own.work.write("go", "");
  expect((await untilEnded(mcp, "back.sh")).get("back.sh.1")?.state).toBe("succeeded");
  await mcp.end();
});

test("a client that asks for progress gets the count of jobs that have ended", async () => {
  const mcp = await start();
  const call = { name: "run", arguments: { commands: ["true", "true"], ...SMALL, waitSeconds: 40 } };
  await mcp.ask("tools/call", { ...call, _meta: { progressToken: "p1" } });
  expect(mcp.notices.at(-1)).toMatchObject({
    method: "notifications/progress",
    params: { progressToken: "p1", progress: 2, total: 2 },
  });
  await mcp.end();
});

describe("long answers", () => {
  test("status comes in parts, each job once, and each part is bounded", async () => {
    const mcp = await start();
    const commands = Array.from({ length: 120 }, (_, n) => `: ${n} ${"x".repeat(300)}`);
    await mcp.call("run", { name: "many", commands, ...SMALL, waitSeconds: 50 });
    await untilState(mcp, "succeeded");
    await until(
      "all have ended",
      async () => (await mcp.call("status", { limit: 1 })).counts.succeeded === 120,
    );
    const names: string[] = [];
    let cursor: string | undefined;
    for (let hasMore = true; hasMore; ) {
      const answer = await mcp.call("status", { limit: 500, ...(cursor && { cursor }) });
      names.push(...answer.rows.map(({ name }: JsonEvent) => name));
      ({ cursor, hasMore } = answer);
    }
    expect(names).toEqual(commands.map((_, n) => `many.sh.${n + 1}`));
    const results: string[] = [];
    for (let offset: number | null = 0; offset !== null; ) {
      const answer: JsonEvent = await mcp.call("results", {
        limit: 500,
        offset,
        fields: ["name", "command"],
      });
      results.push(...answer.rows.map(({ name }: JsonEvent) => name));
      offset = answer.nextOffset;
    }
    expect(results).toEqual(names);
    for (const line of mcp.lines().slice(2))
      expect(Buffer.byteLength(JSON.parse(line).result.content[0].text)).toBeLessThanOrEqual(MOST_BYTES);
    await mcp.end();
  });

  test("a log is read from its end, and from a line on to its end", async () => {
    const mcp = await start();
    const command = `for n in $(seq 1 3000); do echo "line $n of a log"; done; head -c 200000 /dev/zero | tr '\\0' y`;
    await mcp.call("run", { name: "log", commands: [command], ...SMALL, waitSeconds: 50 });
    await untilEnded(mcp, "log.sh");
    const { logs } = await mcp.call("logs", { jobs: ["log.sh"], lines: 3 });
    expect(logs).toMatchObject([{ firstLine: 2999, lines: 3, totalLines: 3001, nextLine: 3002 }]);
    expect(logs[0].text).toMatch(/^line 2999 of a log\nline 3000 of a log\ny+ … \d+ characters … y+$/);
    const lines: string[] = [];
    for (let fromLine = 1; fromLine <= 3000; ) {
      const [log] = (await mcp.call("logs", { jobs: ["log.sh.1"], fromLine, lines: 2000 })).logs;
      lines.push(...log.text.split("\n"));
      fromLine = log.nextLine;
    }
    expect(lines.slice(0, 3000)).toEqual(Array.from({ length: 3000 }, (_, n) => `line ${n + 1} of a log`));
    expect((await mcp.call("logs", { jobs: ["1"], fromLine: 3002 })).logs).toMatchObject([
      { lines: 0, nextLine: 3002 },
    ]);
    for (const line of mcp.lines().slice(2))
      expect(Buffer.byteLength(JSON.parse(line).result.content[0].text)).toBeLessThanOrEqual(MOST_BYTES);
    await mcp.end();
  });
});

describe("with a machine over ssh", () => {
  let host: TestHost;
  beforeAll(async () => {
    host = await startSshd({ name: "box" });
  });
  afterAll(() => host?.stop());

  test("files travel there and back, and a dry run starts nothing", async () => {
    const mcp = await start();
    await own.work.write("data.txt", "42\n");
    const batch = {
      name: "far",
      commands: ["cp data.txt copy.txt; cat data.txt"],
      machines: [await host.machineFile()],
      ...SMALL,
    };
    const dry = await mcp.call("run", { ...batch, dryRun: true });
    expect(dry.events.at(-1)).toMatchObject({ name: "far.sh.1" });
    expect((await mcp.call("status").catch(() => ({ jobs: 0 }))).jobs).toBe(0);
    const { status } = await mcp.call("run", { ...batch, waitSeconds: 50 });
    expect(status.counts).toEqual({ succeeded: 1 });
    expect(await own.work.read("job_results/far.sh.1/copy.txt")).toBe("42\n");
    await mcp.end();
  });

  test("why names what a waiting job is short of on its machine", async () => {
    const mcp = await start();
    const machines = [await host.machineFile("resources: {licence: 1}")];
    const go = waitFor("never");
    await mcp.call("run", {
      name: "one",
      commands: [go, "true"],
      machines,
      ...SMALL,
      resources: { licence: 1 },
    });
    await untilState(mcp, "running");
    const { rows } = await mcp.call("why", { jobs: ["one.sh"] });
    const waiting = rows.find(({ state }: JsonEvent) => state === "waiting");
    expect(waiting).toMatchObject({ requirement: { resources: { licence: [1] } } });
    expect(waiting.machines[0].shortages[0]).toMatchObject({ kind: "resource", name: "licence" });
    expect((await mcp.call("stop", { jobs: ["one.sh"] })).total).toBe(2);
    await mcp.end();
  });

  test("a machine that cannot be reached is an error with its name and a hint", async () => {
    const mcp = await start();
    const file = await host.machineFile("", { port: 1 });
    const text = await mcp.fail("run", { commands: ["true"], machines: [file], ...SMALL });
    expect(text).toMatch(/^error: no usable machine\n.*: .*nothing listens[\s\S]*\ntry: /);
    const { machines } = await mcp.call("probe", { machines: [file], ...SMALL });
    expect(machines).toMatchObject([{ reason: expect.stringContaining("nothing listens") }]);
    await mcp.end();
  });
});

test("no other command loads the SDK, or anything else of the tools", async () => {
  const hook = await own.work.write(
    "hook.cjs",
    'process.on("exit", () => require("fs").appendFileSync(process.env.LOADED, Object.keys(require.cache).join("\\n") + "\\n"));',
  );
  await own.work.write("jobs.sh", "true\n");
  const loaded = own.work.path("loaded.txt");
  const env = { NODE_OPTIONS: `--require ${hook}`, LOADED: loaded };
  const run = (args: string[], stdin = "") =>
    runCommand(args, { program: "sshoal", cwd: own.work.dir, home: own.home.dir, env, stdin });
  for (const args of [
    ["--version"],
    ["mcp", "--help"],
    ["run", "jobs.sh", "--no-gpu-required"],
    ["status"],
    ["results"],
  ])
    expect(await run(args)).toMatchObject({ code: 0 });
  const names = () => readFileSync(loaded, "utf8").split("\n");
  expect(names().some((name) => name.endsWith("sshoal.js"))).toBe(true);
  expect(names().filter((name) => name.endsWith("mcp.js"))).toEqual([]);
  expect(await run(["mcp"])).toMatchObject({ code: 0 });
  expect(names().filter((name) => name.endsWith("mcp.js"))).toHaveLength(1);
  const main = readFileSync(new URL("../../dist/main.js", import.meta.url), "utf8");
  expect(main).not.toContain("notifications/initialized");
});
