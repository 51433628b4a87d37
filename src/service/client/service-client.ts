// How a command asks the queue service. It is light: a command such as `sshoal enqueue` starts, asks once, and ends.

import type { Duplex } from "node:stream";
import { UserError } from "../../errors.js";
import type { JobId } from "../../model/job.js";
import type { QueueEvent } from "../../model/queue-event.js";
import { eventsOf } from "./event-lines.js";
import { type Answered, type Asked, exchange } from "./http-exchange.js";
import { parseAnswer, refusedOr, textOf } from "./service-answer.js";
import { type Dialled, type Door, LostConnection, LostLink, NotListening } from "./service-door.js";
import type { ServiceFile } from "./service-file.js";

/** Each call throws ServiceError if the service refuses it, and UserError if the service is gone. */
export interface ServiceClient {
  readonly door: Door;
  readonly service: ServiceFile;
  /** Asked again over a lost connection, as long as the door has patience. */
  get<T>(path: string): Promise<T>;
  /** `repeats`: the service recognises a repeat, as by the key of `/v1/jobs`. */
  post<T>(path: string, body?: object, repeats?: "repeats"): Promise<T>;
  delete<T>(path: string): Promise<T>;
  /** Posts bytes that the service recognises when they come again. */
  send<T>(path: string, content: NonNullable<Asked["content"]>): Promise<T>;
  /**
   * Events after this one, also over a restart of the service, until the signal comes. Throws ServiceError with status 410 if
   * events in between are no longer kept: read the state again.
   */
  events(after: number, signal: AbortSignal): AsyncIterable<QueueEvent>;
  /** Ends with what there is, or with `follow` when the job is over, or when the signal comes. */
  log(queue: string, id: JobId, which: LogChoice, signal: AbortSignal): AsyncIterable<Buffer>;
  /** Needed only if nothing was asked. */
  close(): void;
}

interface LogChoice {
  readonly stream: "out" | "err";
  /** In bytes. */
  readonly from: number;
  readonly follow: boolean;
}

/** How long a service that restarts is waited for. */
const PATIENCE_MS = 30_000;
const AGAIN_MS = 250;

/** Null: no service runs. Throws UserError if there is no way to it, or if it has another major version. */
export async function connectService(
  door: Door,
  patienceMs: number = PATIENCE_MS,
): Promise<ServiceClient | null> {
  const found = await door.dial();
  return found && clientOf(found, door, patienceMs);
}

type Question = Omit<Asked, "headers">;

function clientOf(first: Dialled, door: Door, patienceMs: number): ServiceClient {
  const { service } = first;
  const never = new AbortController().signal;
  /** The connection that showed that the service runs carries the first request. */
  let unused: Duplex | null = first.socket;
  const ask = async (question: Question, signal?: AbortSignal): Promise<Answered> => {
    const socket = unused ?? (await door.dial(signal))?.socket;
    unused = null;
    if (socket === undefined) throw new NotListening("no service listens");
    const abort = () => socket.destroy();
    signal?.addEventListener("abort", abort, { once: true });
    socket.once("close", () => signal?.removeEventListener("abort", abort));
    if (signal?.aborted === true) abort();
    return refusedOr(await exchange(socket, { ...question, headers: door.headers }));
  };
  const once = async <T>(question: Question, mostMs: number): Promise<T> => {
    let lostAt: number | null = null;
    for (;;) {
      const begunAt = Date.now();
      try {
        return parseAnswer<T>(await textOf(await ask(question)));
      } catch (error) {
        if (!(error instanceof LostConnection)) throw error;
        // One that was under way for long was not lost at the beginning.
        if (lostAt === null || Date.now() - begunAt > mostMs) lostAt = Date.now();
        if (Date.now() - lostAt >= mostMs) throw goneError(service, door, error);
        await pause(AGAIN_MS, never);
      }
    }
  };
  /** Asks for a stream again when its connection is lost. `next`: the path of what is still to come. */
  async function* streamed<T>(
    next: () => string,
    parse: (body: AsyncIterable<Buffer>) => AsyncIterable<T>,
    signal: AbortSignal,
  ): AsyncGenerator<T> {
    let lostAt: number | null = null;
    while (!signal.aborted) {
      try {
        const { body } = await ask({ method: "GET", path: next() }, signal);
        for await (const item of parse(body)) {
          lostAt = null;
          yield item;
        }
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof LostConnection)) throw error;
        // A lost link comes back some day, and then the service is there.
        lostAt = error instanceof LostLink ? null : (lostAt ?? Date.now());
        if (lostAt !== null && Date.now() - lostAt >= patienceMs) throw goneError(service, door, error);
        await pause(AGAIN_MS, signal);
      }
    }
  }
  return {
    door,
    service,
    get: (path) => once({ method: "GET", path }, door.patienceMs),
    post: (path, body, repeats) =>
      once(
        { method: "POST", path, ...(body !== undefined && { body }) },
        repeats === "repeats" ? door.patienceMs : 0,
      ),
    send: (path, content) => once({ method: "POST", path, content }, door.patienceMs),
    delete: (path) => once({ method: "DELETE", path }, 0),
    async *events(after, signal) {
      let last = after;
      const next = () => `/v1/events?after=${last}`;
      while (!signal.aborted) {
        for await (const event of streamed(next, eventsOf, signal)) {
          last = event.seq;
          yield event;
        }
        // The service ended in order, and may start again.
        await pause(AGAIN_MS, signal);
      }
    },
    async *log(queue, id, { stream, from, follow }, signal) {
      let at = from;
      const next = () =>
        `/v1/jobs/${queue}/${id}/log?stream=${stream}&from=${at}${follow ? "&follow=1" : ""}`;
      for await (const chunk of streamed(next, (body) => body, signal)) {
        at += chunk.length;
        yield chunk;
      }
    },
    close() {
      unused?.destroy();
      unused = null;
      door.close();
    },
  };
}

function goneError(
  { pid }: ServiceFile,
  { at, startCommand, isHere }: Door,
  cause: LostConnection,
): UserError {
  if (!isHere && !(cause instanceof NotListening))
    return new UserError(`the connection to the queue service${at} was lost before its answer`, {
      hint: "it may have done what was asked: look with sshoal show, then try again",
      cause,
    });
  return new UserError(`the queue service${at} (process ${pid}) is gone`, {
    hint: `start it again: ${startCommand} (accepted jobs continue)`,
    cause,
  });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });
}
