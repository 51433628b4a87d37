// Commands that know batches and queues: finds out which their words mean, and performs those that are for the service.

import { existsSync } from "node:fs";
import { loadAnyBatches, stemsHere } from "../../../batch/find/batches-here.js";
import { chooseJobs, type JobChoice } from "../../../batch/name/choose-jobs.js";
import { UserError } from "../../../errors.js";
import { DEFAULT_QUEUE } from "../../../model/queue.js";
import { chooseSide, type Side, type SideFacts } from "../../../plan/queue/choose-side.js";
import { Results } from "../../../run/home/results.js";
import type { ServiceClient } from "../../../service/client/service-client.js";
import { quoteIfNeeded } from "../../../transport/quote.js";
import type { Invocation } from "../../options/options.js";
import type { AskedServer } from "../../options/queue/server-options.js";
import { hintElsewhere } from "./hint-elsewhere.js";
import { serviceFile } from "./own-service-file.js";
import { type JobPage, jobsPath, loadQueues, type OnQueue, unknownQueue } from "./queued-jobs.js";
import { findService, needService, noServiceError, serverWord } from "./service-here.js";

/** Null: it is not for the service. */
export function performOnQueue(invocation: Invocation): Promise<number | null> {
  return hintElsewhere(typedServer(invocation), () => perform(invocation));
}

function typedServer(invocation: Invocation): string | null {
  if (!("options" in invocation) || !("server" in invocation.options)) return null;
  const { server } = invocation.options;
  return server !== null && typeof server === "object" ? server.typed : null;
}

async function perform(invocation: Invocation): Promise<number | null> {
  switch (invocation.command) {
    case "status": {
      const { batch, isAll } = invocation.options;
      const found = isAll
        ? null
        : await findSide("status", batch === null ? [] : [batch], invocation.options.server);
      if (found === null) return null;
      const { showQueuedStatus } = await import("./queued-status.js");
      return showQueuedStatus(found, invocation.options);
    }
    case "results": {
      const { batch, server } = invocation.options;
      const isForBatch = batch === null && server.typed === null;
      const found = isForBatch ? null : await findSide("results", batch === null ? [] : [batch], server);
      if (found === null) return null;
      const { showQueuedResults } = await import("./queued-results.js");
      return showQueuedResults(found, invocation.options);
    }
    case "logs": {
      const found = await findSide("logs", invocation.options.jobs.words, invocation.options.server);
      if (found === null) return null;
      const { showQueuedLogs } = await import("./queued-logs.js");
      return showQueuedLogs(found, invocation.options);
    }
    case "why": {
      const found = await findSide("why", invocation.options.words, invocation.options.server);
      if (found === null) return null;
      const { explainQueued } = await import("./explain-queued.js");
      return explainQueued(found, invocation.options);
    }
    case "wait": {
      const found = await findSide("wait", invocation.options.jobs.words, invocation.options.server);
      if (found === null) return null;
      const { waitOnQueue } = await import("./wait-on-queue.js");
      return waitOnQueue(found, invocation.options);
    }
    case "stop":
    case "retry": {
      const { jobs, isJson, server } = invocation.options;
      const found = await findSide(invocation.command, jobs.words, server);
      if (found === null) return null;
      const { actOnQueued } = await import("./act-on-queued.js");
      return actOnQueued(found, { verb: invocation.command, states: jobs.states, priority: null, isJson });
    }
    case "queued-jobs": {
      const { jobs, server, ...act } = invocation.options;
      const found = await needSide(act.verb, jobs, server);
      const { actOnQueued } = await import("./act-on-queued.js");
      return actOnQueued(found, { ...act, states: jobs.states });
    }
    case "drain":
    case "undrain": {
      const { machine, server } = invocation.options;
      if (serverWord(server) === null && !isServiceKnown()) return null;
      const { drainOnQueue } = await import("./drain-on-queue.js");
      const code = await drainOnQueue(invocation.command, invocation.options);
      if (code !== null || server.typed === null) return code;
      throw new UserError(`no queue of ${server.typed} has a machine ${machine}`, {
        hint: `sshoal queue list --server ${server.typed}`,
      });
    }
    default:
      return null;
  }
}

/** Verbs that batches do not have: a number alone means the queue `default`. */
async function needSide(verb: string, { words }: JobChoice, server: AskedServer): Promise<OnQueue> {
  const client = await needService(server);
  const facts = { ...(await queueFacts(client, [])), hasBatch: false };
  return toOnQueue(chooseSide(words, facts), { verb, client, words, queues: facts.queues ?? [] });
}

/** Null: the words mean batches. */
async function findSide(
  verb: string,
  words: readonly string[],
  server: AskedServer,
): Promise<OnQueue | null> {
  if (serverWord(server) !== null) return findElsewhere(verb, words, server);
  if (!isServiceKnown() && !words.some((word) => word.includes("/"))) return null;
  const client = await findService(server);
  return sideFrom({ verb, client, words, facts: await queueFacts(client, words) });
}

/** A server that was typed is what the command is about. Another one is not asked about batches of this directory. */
async function findElsewhere(
  verb: string,
  words: readonly string[],
  server: AskedServer,
): Promise<OnQueue | null> {
  const hasBatch = server.typed === null && stemsHere(new Results(process.cwd())).length > 0;
  if (hasBatch && words.every((word) => stemOf(word) !== null)) return null;
  const client = await needService(server);
  const facts = await queueFacts(client, words);
  return sideFrom({ verb, client, words, facts: { ...facts, hasBatch } });
}

interface Choosing extends Pick<Asked, "verb" | "client" | "words"> {
  readonly facts: SideFacts;
}

/** Null: the words mean batches. */
function sideFrom({ verb, client, words, facts }: Choosing): OnQueue | null {
  const side = chooseSide(words, facts);
  if (side.kind !== "batch") return toOnQueue(side, { verb, client, words, queues: facts.queues ?? [] });
  client?.close();
  return null;
}

/** False: none was ever started, or the last one has ended in order. */
function isServiceKnown(): boolean {
  const file = serviceFile();
  return file !== null && existsSync(file);
}

async function queueFacts(client: ServiceClient | null, words: readonly string[]) {
  const results = new Results(process.cwd());
  const numbers = client === null ? [] : words.filter((word) => /^\d[\d,-]*$/.test(word));
  const hasBatch = stemsHere(results).length > 0;
  const queues = client && (await loadQueues(client)).map(({ name }) => name);
  const ofDefault = new Set<string>();
  for (const word of hasBatch ? numbers : []) {
    const path = jobsPath({ queue: DEFAULT_QUEUE, ids: word, limit: "1" });
    if (client !== null && (await client.get<JobPage>(path)).jobs.length > 0) ofDefault.add(word);
  }
  return {
    hasBatch,
    isOfBatch: (word: string) => stemOf(word) !== null,
    queues,
    isOfDefault: (word: string) => ofDefault.has(word),
  };
}

/** The batch of this directory that the word means, or that has the job; null: none. */
function stemOf(word: string): string | null {
  try {
    const [first] = chooseJobs(loadAnyBatches(new Results(process.cwd())), { words: [word], states: [] });
    return first?.here.stem ?? null;
  } catch (error) {
    if (error instanceof UserError) return null;
    throw error;
  }
}

interface Asked {
  readonly verb: string;
  readonly client: ServiceClient | null;
  readonly words: readonly string[];
  readonly queues: readonly string[];
}

function toOnQueue(side: Side, { verb, client, words, queues }: Asked): OnQueue {
  switch (side.kind) {
    case "batch":
    case "queue":
      if (client === null) throw noServiceError();
      return { client, words: side.kind === "queue" ? side.words : [] };
    case "both": {
      client?.close();
      const batch = side.spellings.batch ?? `${quoteIfNeeded(stemOf(side.word) ?? "")} ${side.word}`;
      const where =
        side.spellings.batch === null
          ? `the queue ${DEFAULT_QUEUE} has one, too`
          : "a queue has that name, too";
      throw new UserError(`${side.word} is of a batch in this directory, and ${where}: which one?`, {
        hint: `sshoal ${verb} ${batch}, or sshoal ${verb} ${side.spellings.queue}`,
      });
    }
    case "mixed":
      client?.close();
      throw new UserError(`${side.queue} is of a queue, and ${side.batch} is of a batch: one at a time`, {
        hint: `sshoal ${verb} ${words.filter((word) => word !== side.queue).join(" ")}`,
      });
    case "no-service":
      throw noServiceError();
    case "unknown-queue":
      client?.close();
      throw unknownQueue(side.queue, queues);
    default:
      return side satisfies never;
  }
}
