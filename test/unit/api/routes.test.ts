import { expect, test } from "vitest";
import { ROUTES } from "../../../src/api/routes/all-routes.js";
import { UserError } from "../../../src/errors.js";
import { until } from "../../rig/until.js";
import { anEvent, aQueueInfo, aQueueJob } from "./scripted-service.js";
import { useServed } from "./served.js";

const served = useServed();
const SPEC = {
  name: "night",
  capacity: { gpu: { "0": 1 } },
  machines: ["gpu1"],
  cwd: "/home/ada",
  prefix: ["nice"],
  envNames: ["TOKEN"],
  maxJobs: 4,
  ahead: "all",
  notify: null,
};
const ENQUEUE = { queue: "default", cwd: "/home/ada", jobs: [{ command: "true" }, { command: "false" }] };

test("health is that of the service", async () => {
  const { status, json } = await served.ask("GET", "/v1/health");
  expect([status, json]).toEqual([200, served.service.health]);
});

test("queues are listed, created with their secrets, and deleted", async () => {
  expect((await served.ask("GET", "/v1/queues")).json).toEqual({ queues: [aQueueInfo()] });
  const created = await served.ask("POST", "/v1/queues", { spec: SPEC, env: { TOKEN: "x" } });
  expect([created.status, created.json.name]).toEqual([200, "night"]);
  expect((await served.ask("DELETE", "/v1/queues/night?stop=1")).json).toEqual({});
  expect((await served.ask("DELETE", "/v1/queues/night")).json).toEqual({});
  expect(served.service.asked).toEqual([
    ["createQueue", SPEC, { TOKEN: "x" }],
    ["deleteQueue", "night", true],
    ["deleteQueue", "night", false],
  ]);
});

test("one queue or all of them are paused and resumed", async () => {
  for (const path of ["/v1/queues/default/pause", "/v1/queues/default/resume", "/v1/pause", "/v1/resume"])
    expect((await served.ask("POST", path)).json).toEqual({});
  expect(served.service.asked).toEqual([
    ["setPaused", "default", true],
    ["setPaused", "default", false],
    ["setPaused", null, true],
    ["setPaused", null, false],
  ]);
});

test("jobs are enqueued as they were asked for", async () => {
  const { json } = await served.ask("POST", "/v1/jobs", ENQUEUE);
  expect(json).toEqual({ queue: "default", ids: [1, 2] });
  expect(served.service.asked).toEqual([["enqueue", ENQUEUE]]);
});

test("a query of jobs reaches the service with every part", async () => {
  served.service.listed.push(aQueueJob());
  served.service.emit(anEvent(7));
  const all = "queue=default&ids=1,3-5&names=a*,b&states=failed,waiting&text=tr%20ain&before=9&limit=2";
  const { json } = await served.ask("GET", `/v1/jobs?${all}`);
  expect(json).toEqual({ seq: 7, jobs: [aQueueJob()] });
  expect((await served.ask("GET", "/v1/jobs")).json.jobs).toHaveLength(1);
  expect(served.service.asked).toEqual([
    [
      "jobs",
      {
        queue: "default",
        ids: [1, 3, 4, 5],
        names: ["a*", "b"],
        states: ["failed", "waiting"],
        text: "tr ain",
        before: 9,
        limit: 2,
      },
    ],
    ["jobs", {}],
  ]);
});

test("one job is found, and why it waits", async () => {
  served.service.listed.push(aQueueJob({ id: 3 }));
  expect((await served.ask("GET", "/v1/jobs/default/3")).json).toEqual(aQueueJob({ id: 3 }));
  const { json } = await served.ask("GET", "/v1/jobs/default/3/why");
  expect(json).toEqual(await served.service.why("default", 3));
});

test("jobs and machines are acted on", async () => {
  const stop = { verb: "stop", queue: "default", ids: [1, 2] };
  const drain = { verb: "drain", queue: "default", machine: "gpu1" };
  expect((await served.ask("POST", "/v1/act", stop)).json.jobs).toHaveLength(2);
  expect((await served.ask("POST", "/v1/machines", drain)).json).toEqual({});
  expect((await served.ask("GET", "/v1/machines")).json).toEqual({ machines: served.service.machines() });
  expect(served.service.asked).toEqual([
    ["act", stop],
    ["actOnMachine", drain],
  ]);
});

test("the state has the jobs of each queue once, with the number of its last event", async () => {
  const jobs = (["waiting", "running", "failed"] as const).map((state, at) =>
    aQueueJob({ id: at + 1, state }),
  );
  served.service.listed.push(...jobs);
  served.service.emit(anEvent(4));
  const { json } = await served.ask("GET", "/v1/state");
  expect(json).toMatchObject({ seq: 4, health: served.service.health, queues: [aQueueInfo()] });
  expect(json.jobs.map(({ id }: { id: number }) => id).sort()).toEqual([1, 2, 3]);
  expect(served.service.asked).toContainEqual([
    "jobs",
    { queue: "default", states: ["waiting"], limit: 100, isOldestFirst: true },
  ]);
});

test("metrics count jobs by queue and state, and quote labels", async () => {
  const { counts } = aQueueInfo();
  served.service.known.push(aQueueInfo({ name: 'a"b\\', counts: { ...counts, running: 3, waiting: 9 } }));
  served.service.refuses = "the disk is full";
  served.service.emit(anEvent(12));
  const { text, headers } = await served.ask("GET", "/metrics");
  expect(headers["content-type"]).toContain("text/plain; version=0.0.4");
  expect(text).toContain('sshoal_jobs{queue="a\\"b\\\\",state="running"} 3\n');
  expect(text).toContain('sshoal_machine_slots{queue="default",machine="gpu1"} 4\n');
  expect(text).toContain("\nsshoal_events_total 12\n");
  expect(text).toContain("\nsshoal_refuses_jobs 1\n");
  expect(text).toMatch(/\nsshoal_memory_bytes \d{7,}\n/);
  for (const line of text.trimEnd().split("\n"))
    expect(line).toMatch(/^(# (HELP|TYPE) sshoal_\w+ .+|sshoal_\w+(\{.*\})? \d+)$/);
});

test("a shutdown is answered before it begins", async () => {
  expect((await served.ask("POST", "/v1/shutdown")).json).toEqual({});
  await until("it was asked", () => served.shutdowns === 1);
});

test.each([
  ["GET", "/v1/nothing", 404, "there is no /v1/nothing"],
  ["GET", "/v1/job", 404, "did you mean /v1/jobs?"],
  ["DELETE", "/v1/jobs", 405, "it takes POST, GET"],
  ["GET", "//", 404, "there is no //"],
  ["GET", "/v1/jobs/default/7", 404, "there is no job default/7"],
  ["GET", "/v1/jobs/default/x", 404, "an id is a number"],
  ["GET", "/v1/jobs/default/7/log", 404, "there is no job"],
  ["GET", "/v1/jobs/default/7/why", 404, "there is no job"],
])("%s %s has status %i", async (method, path, status, says) => {
  const answer = await served.ask(method, path);
  expect(answer.status).toBe(status);
  expect(answer.text).toContain(says);
  expect(answer.json.error).toMatchObject({ message: expect.any(String), exitCode: 2 });
});

test.each([
  ["DELETE", "/v1/queues/defaul", undefined, 404],
  ["DELETE", "/v1/queues/default", undefined, 409],
  ["POST", "/v1/queues", { spec: { ...SPEC, name: "default" }, env: { TOKEN: "x" } }, 409],
  ["POST", "/v1/queues", { spec: SPEC, env: { TOKEN: "x" } }, 400],
  ["POST", "/v1/queues/defaul/pause", undefined, 404],
  ["POST", "/v1/jobs", ENQUEUE, 400],
  ["POST", "/v1/jobs", { ...ENQUEUE, queue: "defaul" }, 404],
  ["POST", "/v1/act", { verb: "stop", queue: "defaul", ids: [1] }, 404],
  ["POST", "/v1/machines", { verb: "add", queue: "default", machine: "x" }, 400],
])("%s %s that the service refuses has a status that says why", async (method, path, body, status) => {
  served.service.failure = new UserError("no", { exitCode: 3 });
  const answer = await served.ask(method, path, body);
  const hint = status === 404 ? "did you mean default?" : null;
  expect([answer.status, answer.json]).toEqual([status, { error: { message: "no", hint, exitCode: 3 } }]);
});

test("while the service accepts no jobs, enqueuing has status 503", async () => {
  served.service.refuses = "the disk is full";
  served.service.failure = new UserError("the disk is full");
  expect((await served.ask("POST", "/v1/jobs", ENQUEUE)).status).toBe(503);
});

test("a bug is reported to the service, not to the client, and the next request is answered", async () => {
  const bug = new TypeError("secret detail");
  served.service.failure = bug;
  const { status, json, text } = await served.ask("POST", "/v1/pause");
  expect([status, json.error.exitCode]).toEqual([500, 70]);
  expect(text).not.toContain("secret");
  expect(served.bugs).toEqual([bug]);
  expect((await served.ask("GET", "/v1/health")).status).toBe(200);
});

test("requests of web pages and for other hosts stay outside", async () => {
  const from = (headers: Record<string, string>) => served.ask("GET", "/v1/health", undefined, { headers });
  expect((await from({ origin: "http://localhost" })).status).toBe(403);
  expect((await from({ origin: "null" })).status).toBe(403);
  expect((await from({ host: "evil.example" })).status).toBe(403);
  expect((await from({ host: "localhost:1234" })).status).toBe(403);
  expect((await from({ host: "localhost" })).status).toBe(200);
  expect((await from({ host: "sshoal" })).status).toBe(200);
});

test("every route is there once", () => {
  const names = ROUTES.map(({ method, path }) => `${method} ${path}`);
  expect(new Set(names).size).toBe(names.length);
});
