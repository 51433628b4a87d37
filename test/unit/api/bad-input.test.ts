import { connect } from "node:net";
import { expect, test } from "vitest";
import { aQueue } from "../service/new-job.js";
import { useServed } from "./served.js";

const served = useServed();
const SPEC = aQueue({ name: "night" });
const enqueue = (job: object, more: object = {}) => ({
  queue: "default",
  cwd: "/",
  jobs: [{ command: "true", ...job }],
  ...more,
});
const gpu = (more: object) => ({
  need: {
    cpus: 1,
    memoryMb: 0,
    reservesMachine: false,
    gpu: { count: 1, memoryMb: 0, utilization: 1, isReserved: true, ...more },
  },
});

test.each<[string, string, unknown, string]>([
  ["no body", "/v1/jobs", undefined, "must be an object"],
  ["no JSON", "/v1/jobs", "{", "the body is no JSON"],
  ["a list", "/v1/jobs", "[]", "must be an object, got a list"],
  ["bytes that are no text", "/v1/jobs", Buffer.from([0x22, 0xff, 0x22]), "the body is no JSON"],
  ["a missing field", "/v1/jobs", { queue: "default", cwd: "/" }, "jobs: is missing"],
  ["a mistyped field", "/v1/jobs", enqueue({ priorty: 1 }), "jobs[0].priorty: is not known"],
  ["a mistyped need", "/v1/jobs", enqueue({ need: { cpu: 1 } }), "jobs[0].need.cpu: is not known"],
  ["a field named __proto__", "/v1/jobs", '{"__proto__": 1}', "__proto__: is not known"],
  ["an empty command", "/v1/jobs", enqueue({ command: "" }), "jobs[0].command: must be a text"],
  ["a NUL", "/v1/jobs", enqueue({ command: "a\0" }), "jobs[0].command: must be a text"],
  [
    "a long command",
    "/v1/jobs",
    enqueue({ command: "x".repeat((1 << 20) + 1) }),
    "jobs[0].command: must be a text",
  ],
  [
    "a relative directory",
    "/v1/jobs",
    enqueue({ cwd: "a" }),
    'jobs[0].cwd: must be an absolute path, got "a"',
  ],
  ["a fractional priority", "/v1/jobs", enqueue({ priority: 0.5 }), "from -499 to 499, got 0.5"],
  ["a large priority", "/v1/jobs", enqueue({ priority: 500 }), "from -499 to 499, got 500"],
  ["a text for a flag", "/v1/jobs", enqueue({ isHeld: "yes" }), 'must be true or false, got "yes"'],
  ["no card", "/v1/jobs", enqueue(gpu({ count: 0 })), "jobs[0].need.gpu.count: must be a number above 0"],
  ["a strange card", "/v1/jobs", enqueue(gpu({ listed: ["a b"] })), "jobs[0].need.gpu.listed[0]: must be"],
  ["a share of cards", "/v1/jobs", enqueue(gpu({ utilization: 2 })), "from 0 to 1.2, got 2"],
  [
    "a place and a job",
    "/v1/jobs",
    enqueue({ after: [{ when: "ended", job: 1, place: 0 }] }),
    "either job or place",
  ],
  ["neither of them", "/v1/jobs", enqueue({ after: [{ when: "ended" }] }), "either job or place"],
  [
    "another word",
    "/v1/jobs",
    enqueue({ after: [{ when: "done", job: 1 }] }),
    "one of succeeded, ended, failed",
  ],
  ["an odd variable", "/v1/jobs", enqueue({ env: { "a-b": "" } }), "jobs[0].env.a-b: must be the name"],
  [
    "no limit",
    "/v1/jobs",
    enqueue({ terms: { maxOutput: { bytes: 1, text: "$(x)" } } }),
    "must be bytes with their",
  ],
  [
    "an empty wrap",
    "/v1/jobs",
    enqueue({ terms: { wrap: [""] } }),
    "jobs[0].terms.wrap: must be a list of words",
  ],
  ["a queue with a slash", "/v1/jobs", enqueue({}, { queue: "a/b" }), "queue: must be the name of a queue"],
  ["a queue that is a number", "/v1/queues", { spec: { ...SPEC, name: "7" }, env: {} }, "spec.name: must be"],
  ["a missing secret", "/v1/queues", { spec: { ...SPEC, envNames: ["T"] }, env: {} }, "env.T: is missing"],
  ["a secret too many", "/v1/queues", { spec: SPEC, env: { T: "" } }, "env.T: is not in spec.envNames"],
  [
    "an amount of 0",
    "/v1/queues",
    { spec: { ...SPEC, capacity: { x: { "0": 0 } } }, env: {} },
    "spec.capacity.x.0:",
  ],
  [
    "another verb",
    "/v1/act",
    { verb: "kill", queue: "default", ids: [1] },
    "verb: must be one of stop, retry",
  ],
  ["no priority", "/v1/act", { verb: "priority", queue: "default", ids: [1] }, "priority: is missing"],
  [
    "a priority too many",
    "/v1/act",
    { verb: "stop", queue: "default", ids: [1], priority: 1 },
    "only goes with",
  ],
  ["job 0", "/v1/act", { verb: "stop", queue: "default", ids: [0] }, "ids[0]: must be a whole number from 1"],
  ["no machine", "/v1/machines", { verb: "add", queue: "default", machine: "" }, "machine: must be a text"],
])("%s is refused, and the service asked nothing", async (_, path, body, says) => {
  const { status, json } = await served.ask("POST", path, body);
  expect([status, json.error.message]).toEqual([400, expect.stringContaining(says)]);
  expect(served.service.asked).toEqual([]);
});

test.each([
  ["/v1/health?x=1", "x: is not known"],
  ["/v1/jobs?stat=failed", "stat: is not known"],
  ["/v1/jobs?limit=1&limit=2", "limit: is there twice"],
  ["/v1/jobs?limit=0", "limit: must be a whole number from 1"],
  ["/v1/jobs?ids=3-1", "ids: must be ids such as 1,3-5"],
  ["/v1/jobs?ids=1-999999999", "ids: must be at most"],
  ["/v1/jobs?states=done", "states: must have words of"],
  ["/v1/jobs?queue=a%2Fb", "queue: must be the name of a queue"],
  ["/v1/events?after=-1", "after: must be a whole number from 0"],
])("%s is refused", async (path, says) => {
  const { status, json } = await served.ask("GET", path);
  expect([status, json.error.message]).toEqual([400, expect.stringContaining(says)]);
});

test("the nearest name is suggested, and all mistakes are reported at once", async () => {
  const one = await served.ask("POST", "/v1/jobs", enqueue({ comand: "x" }));
  expect(one.json.error).toMatchObject({
    message: "jobs[0].comand: is not known",
    hint: "did you mean command?",
  });
  const { json } = await served.ask("POST", "/v1/jobs", { queue: "7", cwd: "a", jobs: [{}], kye: "" });
  expect(json.error.message.split("\n").map((line: string) => line.split(":")[0])).toEqual([
    "kye",
    "queue",
    "jobs[0].command",
    "cwd",
  ]);
});

test("of thousands of mistakes the first ones are reported", async () => {
  const jobs = Array.from({ length: 5000 }, () => ({}));
  const { json } = await served.ask("POST", "/v1/jobs", { queue: "default", cwd: "/", jobs });
  const lines = json.error.message.split("\n");
  expect(lines).toHaveLength(21);
  expect(lines[20]).toBe("and 4980 more mistakes");
});

test("a mistake in a variable does not show its value", async () => {
  const { text } = await served.ask("POST", "/v1/jobs", enqueue({ env: { TOKEN: "hunter2\0" } }));
  expect(text).toContain("jobs[0].env.TOKEN");
  expect(text).not.toContain("hunter2");
});

test("a body that is not JSON by its type is refused", async () => {
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  expect((await served.ask("POST", "/v1/jobs", "{}", { headers })).status).toBe(415);
  const packed = { "content-type": "application/json", "content-encoding": "gzip" };
  expect((await served.ask("POST", "/v1/jobs", "{}", { headers: packed })).status).toBe(415);
});

test("ten thousands of jobs are one request, and more than 64 MB none", async () => {
  const jobs = Array.from({ length: 50_000 }, (_, index) => ({ command: `python train.py --seed ${index}` }));
  const { json } = await served.ask("POST", "/v1/jobs", { queue: "default", cwd: "/", jobs });
  expect(json.ids).toHaveLength(50_000);
  const tooLarge = await served.ask("POST", "/v1/jobs", Buffer.alloc((64 << 20) + 1, " "));
  expect(tooLarge.status).toBe(413);
  const elsewhere = await served.ask("POST", "/v1/act", Buffer.alloc((1 << 20) + 1, " "));
  expect([elsewhere.status, elsewhere.json.error.exitCode]).toEqual([413, 2]);
});

test("a body without a length is limited, too", async () => {
  const headers = { "transfer-encoding": "chunked" };
  const { status } = await served.ask("POST", "/v1/act", Buffer.alloc((1 << 20) + 1, " "), { headers });
  expect(status).toBe(413);
});

test.each([
  "garbage\r\n\r\n",
  "GET /v1/health HTTP/1.1\r\n\r\n",
  `GET /${"x".repeat(99_999)} HTTP/1.1\r\n\r\n`,
])("what is no proper HTTP ends its own connection only", async (sent) => {
  const socket = connect(served.socket).on("error", () => {});
  socket.resume().write(sent);
  await new Promise((resolve) => socket.once("close", resolve));
  expect((await served.ask("GET", "/v1/health")).status).toBe(200);
  expect(served.bugs).toEqual([]);
});

test("a client that leaves in the middle of its body harms nothing", async () => {
  const socket = connect(served.socket).on("error", () => {});
  socket.write(
    "POST /v1/jobs HTTP/1.1\r\nhost: sshoal\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{",
    () => socket.destroy(),
  );
  await new Promise((resolve) => socket.once("close", resolve));
  expect((await served.ask("GET", "/v1/health")).status).toBe(200);
  await served.close();
  expect(served.bugs).toEqual([]);
  expect(served.service.asked).toEqual([]);
});
