// The API of the service over its socket: state, events with replay, adding jobs once, and logs.

import { beforeEach, expect, test } from "vitest";
import { waitFor } from "../rig/batch.js";
import { useQueueService } from "../rig/queue-service.js";
import { until } from "../rig/until.js";

const service = useQueueService();
beforeEach(() => service.lines(["serve"]));

const need = { cpus: 0.01, memoryMb: 0, gpu: null, reservesMachine: false };
const asked = (command: string, more: object = {}) => ({
  queue: "default",
  cwd: service.work.dir,
  jobs: [{ command, need }],
  ...more,
});

const parse = (text: string) =>
  text
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice("data: ".length)));

test("state and the events after it miss nothing and repeat nothing", async () => {
  const { seq } = await service.json("/v1/state");
  await service.json("/v1/jobs", { body: asked("true") });
  await service.untilState("default/1", "succeeded");
  const all = parse(
    (await service.ask(`/v1/events?after=${seq}`, { isEnough: (text) => text.includes("queue-empty") })).text,
  );
  const kinds = all.filter(({ job }) => job === 1).map(({ kind }) => kind);
  expect(kinds).toEqual(["job-added", "job-started", "job-ended"]);
  const numbers = all.map((event) => event.seq);
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  const [first] = all;
  const replayed = await service.ask("/v1/events", {
    headers: { "last-event-id": `${first.seq}` },
    isEnough: (text) => text.includes("queue-empty"),
  });
  expect(parse(replayed.text)).toEqual(all.slice(1));
  const after = await service.json("/v1/state");
  expect(after.seq).toBeGreaterThanOrEqual(numbers.at(-1));
  expect(after.jobs).toContainEqual(expect.objectContaining({ id: 1, state: "succeeded" }));
});

test("a request that is repeated with its key adds its jobs once, also after a kill", async () => {
  const body = asked("echo once >> ran", { key: "night-7" });
  const first = await service.json("/v1/jobs", { body });
  expect(await service.json("/v1/jobs", { body })).toEqual(first);
  await service.kill();
  await service.lines(["serve"]);
  expect(await service.json("/v1/jobs", { body })).toEqual(first);
  await service.untilState("default/1", "succeeded");
  expect(await service.jobs("default")).toHaveLength(1);
  expect(await service.work.read("ran")).toBe("once\n");
});

test("requests with one key that come at the same time add their jobs once, and get the same answer", async () => {
  // The first one measures the machine, and the others come meanwhile.
  const body = asked("echo once >> ran", { key: "night-8" });
  const [first, ...others] = await Promise.all([1, 2, 3].map(() => service.json("/v1/jobs", { body })));
  expect(first).toEqual({ queue: "default", ids: [1] });
  expect(others).toEqual([first, first]);
  await service.untilState("default/1", "succeeded");
  expect(await service.jobs("default")).toHaveLength(1);
});

test("a followed log grows with the output, from any offset, and ends with the job", async () => {
  await service.json("/v1/jobs", { body: asked(`echo one; ${waitFor("go")}; echo two`) });
  await until("the first line is there", async () =>
    (await service.ask("/v1/jobs/default/1/log")).text.includes("one"),
  );
  const followed = service.ask("/v1/jobs/default/1/log?from=2&follow=1");
  await service.work.write("go", "");
  expect((await followed).text).toBe("e\ntwo\n");
});

test("mistakes are answered with what to do, and requests of web pages are refused", async () => {
  const unknown = await service.ask("/v1/jobs", { body: { ...asked("true"), queue: "defalt" } });
  expect(JSON.parse(unknown.text).error).toMatchObject({ hint: "did you mean default?", exitCode: 2 });
  expect((await service.ask("/v1/jobs/default/99")).status).toBe(404);
  expect((await service.ask("/v1/nothing")).status).toBe(404);
  const fields = await service.ask("/v1/jobs", { body: asked("true", { more: 1 }) });
  expect(fields).toMatchObject({ status: 400, text: expect.stringContaining("more") });
  const page = await service.ask("/v1/state", { headers: { origin: "http://localhost" } });
  expect(page.status).toBe(403);
  expect((await service.ask("/v1/health", { headers: { host: "example.org" } })).status).toBe(403);
});
