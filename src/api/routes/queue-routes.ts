// The routes of queues and their machines.

import { UserError } from "../../errors.js";
import { isSet } from "../readers/query-readers.js";
import { machineAct, newQueue } from "../readers/queue-readers.js";
import { type Call, orStatus, type Reply, type Route } from "../route.js";
import { refusedFor, withStatus } from "./known-queue.js";

export const QUEUE_ROUTES: readonly Route[] = [
  { method: "GET", path: "/v1/queues", answer: ({ service }) => ({ json: { queues: service.queues() } }) },
  {
    method: "POST",
    path: "/v1/queues",
    async answer({ service, body }) {
      const { spec, env } = body(newQueue);
      const isThere = () => service.queues().some(({ name }) => name === spec.name);
      const create = () => service.createQueue(spec, env);
      const json = await orStatus(create, (error) =>
        error instanceof UserError && isThere() ? withStatus(error, 409) : error,
      );
      return { json };
    },
  },
  {
    method: "DELETE",
    path: "/v1/queues/NAME",
    query: ["stop"],
    async answer({ service, words: { NAME = "" }, query, read }) {
      const stops = read((place) => isSet(query, "stop", place));
      await orStatus(() => service.deleteQueue(NAME, stops), refusedFor(service, NAME, 409));
      return { json: {} };
    },
  },
  { method: "POST", path: "/v1/queues/NAME/pause", answer: (call) => setPaused(call, true) },
  { method: "POST", path: "/v1/queues/NAME/resume", answer: (call) => setPaused(call, false) },
  { method: "POST", path: "/v1/pause", answer: (call) => setPaused(call, true) },
  { method: "POST", path: "/v1/resume", answer: (call) => setPaused(call, false) },
  {
    method: "GET",
    path: "/v1/machines",
    answer: ({ service }) => ({ json: { machines: service.machines() } }),
  },
  {
    method: "POST",
    path: "/v1/machines",
    async answer({ service, body }) {
      const asked = body(machineAct);
      await orStatus(() => service.actOnMachine(asked), refusedFor(service, asked.queue, 400));
      return { json: {} };
    },
  },
];

async function setPaused({ service, words: { NAME } }: Call, isPaused: boolean): Promise<Reply> {
  const set = () => service.setPaused(NAME ?? null, isPaused);
  await (NAME === undefined ? set() : orStatus(set, refusedFor(service, NAME, 400)));
  return { json: {} };
}
