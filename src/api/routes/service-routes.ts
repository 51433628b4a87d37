// The routes of the service itself: its health, its whole state, its events, and its end.

import type { QueueJob } from "../../model/queue.js";
import { JOB_WORDS } from "../../model/standing.js";
import { formatMetrics } from "../metrics.js";
import type { QueueService } from "../queue-service.js";
import { number } from "../readers/query-readers.js";
import { Refusal } from "../refusal.js";
import type { Route } from "../route.js";

/** Of each queue, in GET /v1/state. */
const MOST_WAITING = 100;
const MOST_ENDED = 100;
const ENDED = JOB_WORDS.filter((word) => word !== "waiting" && word !== "running");

export const SERVICE_ROUTES: readonly Route[] = [
  { method: "GET", path: "/v1/health", answer: ({ service }) => ({ json: service.health }) },
  { method: "GET", path: "/v1/state", answer: ({ service }) => ({ json: stateOf(service) }) },
  {
    method: "GET",
    path: "/v1/events",
    query: ["after"],
    answer({ readers, query, lastEventId, read, signal }) {
      const asked = lastEventId ?? query.get("after");
      const after =
        asked === undefined ? null : read((place) => number(0)(asked, { ...place, where: "after" }));
      const begin = readers.begin(after);
      return { stream: (response) => begin(response, signal) };
    },
  },
  {
    method: "GET",
    path: "/metrics",
    answer: ({ service }) => ({
      text: formatMetrics(
        { health: service.health, queues: service.queues(), machines: service.machines() },
        { now: Date.now(), memoryBytes: process.memoryUsage.rss() },
      ),
      type: "text/plain; version=0.0.4; charset=utf-8",
    }),
  },
  {
    method: "POST",
    path: "/v1/shutdown",
    answer({ service, shutDown }) {
      if (shutDown !== null) return { json: {}, after: shutDown };
      throw new Refusal(405, "the client that follows the batch ends with it", {
        hint: `to leave its jobs to their machines: kill ${service.health.pid}`,
      });
    },
  },
];

/** Read in one turn, so that it is the state at one event. */
function stateOf(service: QueueService): object {
  const { health } = service;
  const queues = service.queues();
  const jobs = queues.flatMap(({ name: queue }): QueueJob[] => [
    ...service.jobs({ queue, states: ["running"] }),
    ...service.jobs({ queue, states: ["waiting"], limit: MOST_WAITING, isOldestFirst: true }),
    ...service.jobs({ queue, states: ENDED, limit: MOST_ENDED }),
  ]);
  return { seq: health.seq, health, queues, machines: service.machines(), jobs };
}
