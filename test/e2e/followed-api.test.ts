// The client that follows a batch answers the HTTP API on a socket of its own.

import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROUTES } from "../../src/api/routes/all-routes.js";
import { makeOneTimeKey } from "../../src/transport/ssh2/one-time-key.js";
import { isRoot, remoteAccount } from "../rig/account.js";
import { type Asked, askSocket } from "../rig/ask-socket.js";
import { type JsonEvent, LIGHT_NO_GPU, waitFor } from "../rig/batch.js";
import { type LiveCommand, runCommand, spawnCommand } from "../rig/command.js";
import { readPage } from "../rig/markdown.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";
import { aQueue } from "../unit/service/new-job.js";

let host: TestHost;
let machine: string;

beforeAll(async () => {
  host = await startSshd({ name: "a" });
  machine = await host.machineFile("max_jobs: 2");
});
afterAll(() => host.stop());

interface Followed {
  readonly work: Workspace;
  readonly gate: Workspace;
  readonly client: LiveCommand;
  readonly socket: string;
  readonly batch: string;
  ask(path: string, asked?: Asked): ReturnType<typeof askSocket>;
  json(path: string, asked?: Asked): Promise<JsonEvent>;
  act(verb: string, ...ids: number[]): Promise<JsonEvent>;
  untilState(id: number, state: string): Promise<JsonEvent>;
}

/** `lines`: with `@name@` for a wait until `gate` has this file. */
async function follow(...lines: string[]): Promise<Followed> {
  const gate = await makeWorkspace();
  const script = lines.map((line) => `${line.replace(/@(\w+)@/g, (_, name) => waitFor(gate.path(name)))}\n`);
  const work = await makeWorkspace({ "jobs.sh": script.join("") });
  const client = spawnCommand(["jobs.sh", "--machines", machine, ...LIGHT_NO_GPU], {
    cwd: work.dir,
    env: { XDG_RUNTIME_DIR: gate.dir },
  });
  const lock = work.path("job_results/.sshoal/jobs.sh.lock");
  const { api: socket } = await until("the lock is there", async () =>
    existsSync(lock) ? JSON.parse(await readFile(lock, "utf8")) : null,
  );
  const ask = (to: string, asked?: Asked) => askSocket(socket, to, asked);
  const json = async (to: string, asked?: Asked) => {
    const { status, text } = await ask(to, asked);
    if (status !== 200) throw new Error(`${status} for ${to}: ${text}`);
    return JSON.parse(text);
  };
  const { batch } = await json("/v1/health");
  const act = (verb: string, ...ids: number[]) => json("/v1/act", { body: { verb, queue: batch, ids } });
  const untilState = (id: number, state: string) =>
    until(`${id} is ${state}`, async () => {
      const job = await json(`/v1/jobs/${batch}/${id}`);
      return job.state === state ? job : null;
    });
  return { work, gate, client, socket, batch, ask, json, act, untilState };
}

const parse = (text: string): JsonEvent[] =>
  text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));

test("state, replayed events and live ones miss nothing, and the socket goes with the client", async () => {
  const { work, gate, client, socket, batch, ask, json, untilState } = await follow(
    "echo out; echo oh >&2; @one@; exit 3",
    "@two@",
    "@two@",
  );
  expect(statSync(socket).mode & 0o777).toBe(0o600);
  expect(statSync(path.dirname(socket)).mode & 0o777).toBe(0o700);
  await untilState(1, "running");
  await untilState(2, "running");
  const state = await json("/v1/state");
  expect(state.queues).toMatchObject([{ name: batch, cwd: work.dir, counts: { running: 2, waiting: 1 } }]);
  expect(state.machines).toMatchObject([{ queue: batch, machine: "a.yaml", phase: "ready", slots: 2 }]);
  expect(state.jobs).toHaveLength(3);
  expect(state.jobs).toContainEqual(
    expect.objectContaining({ id: 1, name: "jobs.sh.1", state: "running", machine: "a.yaml", attempt: 1 }),
  );
  await gate.write("one", "");
  const failed = await until("its results are here", async () => {
    const job = await json(`/v1/jobs/${batch}/1`);
    return job.isHere ? job : null;
  });
  expect(failed).toMatchObject({ state: "failed", outcome: { kind: "exited", code: 3 }, stderrTail: "oh\n" });
  expect(await readFile(`${failed.results}.out`, "utf8")).toBe("out\n");

  const live = ask(`/v1/events?after=${state.seq}`);
  await gate.write("two", "");
  const [{ text }, ended] = await Promise.all([live, client.ended]);
  expect(ended.code).toBe(1);
  const events = parse(text);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => state.seq + 1 + index));
  const kindsOf = (id: number) => events.filter(({ job }) => job === id).map(({ kind }) => kind);
  expect(kindsOf(1)).toEqual(["job-ended", "job-changed"]);
  expect(kindsOf(3)).toEqual(["job-started", "job-ended", "job-changed"]);
  expect(events.find(({ kind, job }) => kind === "job-ended" && job === 1)?.data).toMatchObject({
    state: "failed",
    stderrTail: "oh\n",
  });
  expect(events.at(-1)?.kind).toBe("queue-empty");
  expect(existsSync(socket)).toBe(false);
});

test("a job is stopped and run again, and its log is followed to its end", async () => {
  const { gate, client, batch, ask, json, act, untilState } = await follow(
    "echo one; @go@; echo two",
    "@end@",
  );
  await untilState(1, "running");
  const log = ask(`/v1/jobs/${batch}/1/log?follow=1`);
  expect(await act("stop", 1, 7)).toEqual({
    jobs: [
      { id: 1, state: "stopped" },
      { id: 7, state: "removed", refused: `there is no job ${batch}/7` },
    ],
  });
  expect((await log).text).toBe("one\n");
  expect(await act("stop", 1)).toMatchObject({ jobs: [{ state: "stopped", refused: "it is over" }] });
  expect(await act("retry", 1, 2)).toMatchObject({
    jobs: [{ id: 1 }, { id: 2, state: "running", refused: "it has not ended" }],
  });
  await untilState(1, "running");
  await until("it has printed", async () => (await ask(`/v1/jobs/${batch}/1/log`)).text === "one\n");
  const again = ask(`/v1/jobs/${batch}/1/log?from=2&follow=1`, { isEnough: (text) => text.includes("two") });
  await gate.write("go", "");
  expect((await again).text).toBe("e\ntwo\n");
  expect(await json(`/v1/jobs?queue=${batch}&names=*.1&states=succeeded,running`)).toMatchObject({
    jobs: [{ id: 1, attempt: 2 }],
  });
  await gate.write("end", "");
  expect((await client.ended).code).toBe(0);
});

test("a waiting job is explained, and no job begins while the batch is paused or its machine is drained", async () => {
  const { gate, client, batch, json, untilState } = await follow("@a@", "@b@", "@c@");
  await untilState(1, "running");
  await untilState(2, "running");
  const why = await json(`/v1/jobs/${batch}/3/why`);
  expect(why).toMatchObject({ place: 1, holds: [], job: { id: 3, state: "waiting" } });
  expect(why.room.machines).toMatchObject([{ machine: "a.yaml" }]);

  const post = (to: string, body?: object) => json(to, { method: "POST", ...(body && { body }) });
  await post(`/v1/queues/${batch}/pause`);
  expect((await json("/v1/state")).queues).toMatchObject([{ isPaused: true }]);
  await gate.write("a", "");
  await untilState(1, "succeeded");
  expect(await json(`/v1/jobs/${batch}/3`)).toMatchObject({
    state: "waiting",
    reason: "the batch is paused",
  });
  await post("/v1/machines", { verb: "drain", queue: batch, machine: "a.yaml" });
  await until("it is drained", async () => (await json("/v1/machines")).machines[0].isDraining);
  await post("/v1/resume");
  expect(await json(`/v1/jobs/${batch}/3`)).toMatchObject({ state: "waiting" });
  await post("/v1/machines", { verb: "undrain", queue: batch, machine: "a.yaml" });
  await untilState(3, "running");
  await Promise.all(["b", "c"].map((name) => gate.write(name, "")));
  expect((await client.ended).code).toBe(0);
});

/** Any other request for this path is asked to upgrade its connection. */
async function askToJoin(socket: string, queue: string): Promise<{ status: number; text: string }> {
  const key = makeOneTimeKey().publicKey.toString("base64url");
  const query = `machine=m&queues=${queue}&process=0123456789abcdef&key=${key}&version=0.0.0`;
  const connection = connect(socket);
  connection.write(
    `POST /v1/join?${query} HTTP/1.1\r\nhost: sshoal\r\nconnection: upgrade\r\nupgrade: sshoal-join\r\n\r\n`,
  );
  const chunks: Buffer[] = [];
  for await (const chunk of connection) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  return { status: Number(text.split(" ")[1]), text };
}

test("each route answers as docs/api.md says", async () => {
  const { gate, client, batch, ask, work, socket } = await follow("@end@");
  const page = readPage("docs/api.md");
  const routes = ROUTES.map(({ method, path: to }) => ({
    method,
    to: to.replace("QUEUE", batch).replace("NAME", batch).replace("ID", "1"),
  }));
  const bodies: Record<string, object> = {
    "/v1/queues": { spec: aQueue({ name: "q" }), env: {} },
    "/v1/jobs": { queue: batch, cwd: work.dir, jobs: [{ command: "true" }] },
    "/v1/machines": { verb: "undrain", queue: batch, machine: "a.yaml" },
    "/v1/act": { verb: "stop", queue: batch, ids: [] },
  };
  const refused: string[] = [];
  for (const { method, to } of routes) {
    const join = to === "/v1/join" ? await askToJoin(socket, batch) : null;
    const body = method === "POST" ? bodies[to] : undefined;
    const isEnough = () => true;
    const { status, text } =
      join ??
      (await ask(to, {
        method,
        ...(body && { body }),
        ...(to === "/v1/events" && { isEnough }),
      }));
    if (status === 405) refused.push(`${method} ${to.replace(batch, "NAME")}`);
    else expect([method, to, status, status === 200 ? "" : text]).toEqual([method, to, 200, ""]);
  }
  const sentence = /So status 405 answers ([^.]*)\./.exec(page)?.[1] ?? "";
  const documented = [...sentence.matchAll(/`([^`]+)`/g)].map(([, route]) => route);
  expect(refused.sort()).toEqual(documented.sort());
  expect(refused).not.toEqual([]);

  const wrong = await Promise.all([
    ask("/v1/jobs/other/1"),
    ask(`/v1/jobs/${batch}/99`),
    ask("/v1/act", { body: { verb: "hold", queue: batch, ids: [1] } }),
    ask("/v1/machines", { body: { verb: "add", queue: batch, machine: "gpu2" } }),
    ask("/v1/health", { headers: { origin: "http://example.org" } }),
  ]);
  expect(wrong.map(({ status }) => status)).toEqual([404, 404, 405, 405, 403]);
  for (const { text } of wrong.slice(0, 4)) expect(JSON.parse(text).error.hint).not.toBeNull();
  await gate.write("end", "");
  expect((await client.ended).code).toBe(0);
});

test("sshoal status --all --json names the socket, which no other account can open", async () => {
  const { gate, client, socket, work, batch } = await follow("@end@");
  const { stdout } = await runCommand(["status", "--all", "--json"], { cwd: work.dir, program: "sshoal" });
  const listed = stdout.split("\n").filter((line) => line.includes(`"${batch}"`));
  expect(JSON.parse(listed[0] ?? "{}")).toMatchObject({ apiSocket: socket });
  if (isRoot) {
    chmodSync(path.dirname(socket), 0o755);
    const { uid, gid } = remoteAccount();
    const asked = ["-sS", "--unix-socket", socket, "http://localhost/v1/health"];
    expect(() => execFileSync("curl", asked, { uid, gid, stdio: "pipe" })).toThrow(/Command failed/);
  }
  await gate.write("end", "");
  expect((await client.ended).code).toBe(0);
});
