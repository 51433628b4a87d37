// What jobs of queues share: declared resources, parts of them, and cards that several queues use.

import { beforeEach, expect, test } from "vitest";
import { listBelow, waitFor } from "../rig/batch.js";
import { STAND_IN_BIN, saveGpus } from "../rig/gpus.js";
import { LITTLE, useQueueService } from "../rig/queue-service.js";
import { until } from "../rig/until.js";

const service = useQueueService();

beforeEach(() => service.lines(["serve"]));

/** Notes the cards of a job in the name of a file, and runs until `go.N` exists. */
const holding = (queue: string, n: number) =>
  `touch "on.$CUDA_VISIBLE_DEVICES.${queue}-${n}"; ${waitFor(`go.${queue}-${n}`)}; mv "on.$CUDA_VISIBLE_DEVICES.${queue}-${n}" "off.$CUDA_VISIBLE_DEVICES.${queue}-${n}"`;

const on = () => listBelow(service.work.dir).filter((path) => path.startsWith("on."));
const off = () => listBelow(service.work.dir).filter((path) => path.startsWith("off."));
const cardsOf = (paths: readonly string[]) => paths.map((path) => path.split(".")[1]).sort();

async function enqueue(queue: string, need: string, count: number, from = 1): Promise<void> {
  const lines = Array.from({ length: count }, (_, n) => holding(queue, from + n));
  await service.lines(["enqueue", queue, ...LITTLE, "--require", need, "-"], `${lines.join("\n")}\n`);
}

const release = (queue: string, ns: readonly number[]) =>
  Promise.all(ns.map((n) => service.work.write(`go.${queue}-${n}`, "")));

test("of nine jobs of half a card on four declared cards, eight run, two per card", async () => {
  await service.lines(["queue", "create", "half", "--capacity", "{gpu: 4}"]);
  await enqueue("half", "{gpu: 0.5}", 9);
  await until("eight run", () => on().length >= 8);
  expect(cardsOf(on())).toEqual(["0", "0", "1", "1", "2", "2", "3", "3"]);
  const ninth = await until("the ninth has a reason", async () => {
    const job = await service.job("half/9");
    return job.reason !== null ? job : null;
  });
  expect(ninth).toMatchObject({ state: "waiting", reason: expect.stringContaining("gpu") });
  const [, room] = await service.lines(["why", "half/9"]);
  expect(room).toMatch(/^localhost {2}gpu {2}0 free, needs 0\.5$/);
  expect(on()).toHaveLength(8);
  const job = await service.job("half/1");
  expect(job).toMatchObject({ state: "running", got: { gpu: expect.anything() } });
  await release("half", [3]);
  await until("the ninth runs", () => on().some((path) => path.endsWith("-9")));
  const third = off().find((path) => path.endsWith("-3"));
  expect(cardsOf(on().filter((path) => path.endsWith("-9")))).toEqual(cardsOf([third ?? ""]));
  await release("half", [1, 2, 4, 5, 6, 7, 8, 9]);
  expect(await service.run(["wait", "half"])).toMatchObject({ code: 0 });
});

test("a job of two whole cards waits for them, and later jobs do not keep them from it", async () => {
  await service.lines(["queue", "create", "two", "--capacity", "{gpu: 2}"]);
  await enqueue("two", "{gpu: 1}", 1);
  await until("the first runs", () => on().length === 1);
  await enqueue("two", "{gpu: 2}", 1, 2);
  await until("it waits with a reason", async () => (await service.job("two/2")).reason !== null);
  await release("two", [1]);
  await until("both cards are its own", () => on().length === 1 && on()[0]?.endsWith("-2"));
  expect(cardsOf(on())).toEqual(["0,1"]);
  await release("two", [2]);
  expect(await service.run(["wait", "two"])).toMatchObject({ code: 0 });
});

test("amounts of a declared resource are never exceeded", async () => {
  await service.lines(["queue", "create", "ram", "--capacity", "{RAM: [512]}"]);
  await enqueue("ram", "{RAM: 200}", 4);
  await until("two run", () => on().length === 2);
  await until("the third says why", async () => (await service.job("ram/3")).reason?.includes("RAM"));
  expect(on()).toHaveLength(2);
  await release("ram", [1, 2, 3, 4]);
  expect(await service.run(["wait", "ram"])).toMatchObject({ code: 0 });
});

test("several queues share the cards of a machine, and none gets a card that another one has", async () => {
  const state = service.home.path("nvidia-smi.state");
  saveGpus(state, { gpus: [{}, {}] });
  Object.assign(service.env, { PATH: `${STAND_IN_BIN}:${process.env.PATH}`, NVIDIA_SMI_STATE: state });
  await service.lines(["serve", "restart"]);
  for (const queue of ["left", "right"]) await service.lines(["queue", "create", queue]);
  await enqueue("left", "{gpu: 1}", 2);
  await until("both cards are taken", () => on().length === 2);
  expect(cardsOf(on())).toEqual(["0", "1"]);
  await enqueue("right", "{gpu: 1}", 1);
  await until("the other queue waits", async () => (await service.job("right/1")).reason !== null);
  await release("left", [1]);
  await until("the other queue has a card", () => on().some((path) => path.endsWith("right-1")));
  expect(cardsOf(on())).toEqual(["0", "1"]);
  await release("left", [2]);
  await release("right", [1]);
  expect(await service.run(["wait", "left", "right"])).toMatchObject({ code: 0 });
});
