// The routes of jobs.

import { refuse } from "../readers/fields.js";
import { act, enqueue } from "../readers/job-readers.js";
import { isSet, number, readJobQuery } from "../readers/query-readers.js";
import { orStatus, type Route } from "../route.js";
import { sendLog } from "../send-log.js";
import { jobOf, refusedFor } from "./known-queue.js";

const MOST_ENQUEUE_BYTES = 64 << 20;

export const JOB_ROUTES: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/jobs",
    mostBytes: MOST_ENQUEUE_BYTES,
    async answer({ service, body }) {
      const asked = body(enqueue);
      const json = await orStatus(
        () => service.enqueue(asked),
        (error) => refusedFor(service, asked.queue, service.health.refuses === null ? 400 : 503)(error),
      );
      return { json };
    },
  },
  {
    method: "GET",
    path: "/v1/jobs",
    query: ["queue", "ids", "names", "states", "text", "before", "limit"],
    async answer({ service, query, read }) {
      const asked = read((place) => readJobQuery(query, place));
      const { seq } = service.health;
      const jobs = await orStatus(
        () => service.jobs(asked),
        (error) => (asked.queue === undefined ? error : refusedFor(service, asked.queue, 400)(error)),
      );
      return { json: { seq, jobs } };
    },
  },
  {
    method: "GET",
    path: "/v1/jobs/QUEUE/ID",
    answer: ({ service, words }) => ({ json: jobOf(service, words) }),
  },
  {
    method: "GET",
    path: "/v1/jobs/QUEUE/ID/why",
    async answer({ service, words }) {
      const { queue, id } = jobOf(service, words);
      return { json: await service.why(queue, id) };
    },
  },
  {
    method: "GET",
    path: "/v1/jobs/QUEUE/ID/log",
    query: ["stream", "from", "follow"],
    answer({ service, words, query, read, signal }) {
      const asked = read((place) => {
        const stream = query.get("stream") ?? "out";
        if (stream !== "out" && stream !== "err") refuse({ ...place, where: "stream" }, "must be out or err");
        const from = number(0)(query.get("from") ?? "0", { ...place, where: "from" });
        const isErr = stream === "err";
        return {
          stream: isErr ? ("err" as const) : ("out" as const),
          from,
          follows: isSet(query, "follow", place),
        };
      });
      const { queue, id } = jobOf(service, words);
      return { stream: (response) => sendLog(response, { ...asked, service, queue, id, signal }) };
    },
  },
  {
    method: "POST",
    path: "/v1/act",
    async answer({ service, body }) {
      const asked = body(act);
      return { json: await orStatus(() => service.act(asked), refusedFor(service, asked.queue, 400)) };
    },
  },
];
