// How a command asks the queue service. It is light: a command such as `sshoal enqueue` starts, asks once, and ends.

import { lstatSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { ExitCode, UserError } from "../../errors.js";
import type { JobId } from "../../model/job.js";
import type { QueueEvent } from "../../model/queue.js";
import { VERSION } from "../../model/version.js";
import { eventsOf } from "./event-lines.js";
import { type Answered, type Asked, exchange, LostConnection } from "./http-exchange.js";
import { loadServiceFile, type ServiceFile } from "./service-file.js";

/** Each call throws ServiceError if the service refuses it, and UserError if the service is gone. */
export interface ServiceClient {
  readonly service: ServiceFile;
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body?: object): Promise<T>;
  delete<T>(path: string): Promise<T>;
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

/** The service refused a request. */
export class ServiceError extends UserError {
  readonly status: number;

  constructor(status: number, message: string, options: { hint?: string; exitCode?: ExitCode }) {
    super(message, options);
    this.status = status;
  }
}

/** How long a service that restarts is waited for. */
const PATIENCE_MS = 30_000;
const AGAIN_MS = 250;

/**
 * `file`: service@<host>.json. Null: no service runs. Throws UserError if the file is not to be trusted, or the service has
 * another major version.
 */
export async function connectService(
  file: string,
  patienceMs: number = PATIENCE_MS,
): Promise<ServiceClient | null> {
  const found = await dialService(file);
  return found && clientOf(found, file, patienceMs);
}

interface Dialled {
  readonly service: ServiceFile;
  readonly socket: Socket;
}

async function dialService(file: string): Promise<Dialled | null> {
  const service = loadServiceFile(file);
  if (service === null) return null;
  checkVersion(service);
  const socket = await dialSocket(service.socket);
  return socket && { service, socket };
}

function checkVersion({ version, pid }: ServiceFile): void {
  const [theirs, ours] = [version, VERSION].map((each) => each.split(".")[0]);
  if (theirs === ours) return;
  throw new UserError(`the queue service (process ${pid}) is sshoal ${version}, and this is ${VERSION}`, {
    hint: "use the same version for both, or start the service again with this one: its jobs continue",
  });
}

/** Null: nothing listens there. */
function dialSocket(path: string): Promise<Socket | null> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found?.isSocket() || found.uid !== process.geteuid?.()) return Promise.resolve(null);
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("error", () => resolve(null));
    socket.once("connect", () => resolve(socket));
  });
}

function clientOf(first: Dialled, file: string, patienceMs: number): ServiceClient {
  const { service } = first;
  /** The connection that showed that the service runs carries the first request. */
  let unused: Socket | null = first.socket;
  const ask = async (asked: Asked, signal?: AbortSignal): Promise<Answered> => {
    const socket = unused ?? (await dialService(file))?.socket;
    unused = null;
    if (socket === undefined) throw new LostConnection("no service listens");
    const abort = () => socket.destroy();
    signal?.addEventListener("abort", abort, { once: true });
    socket.once("close", () => signal?.removeEventListener("abort", abort));
    if (signal?.aborted === true) abort();
    return refusedOr(await exchange(socket, asked));
  };
  const once = async <T>(asked: Asked): Promise<T> => {
    try {
      return JSON.parse(await textOf(await ask(asked))) as T;
    } catch (error) {
      throw error instanceof LostConnection ? goneError(service, error) : error;
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
        lostAt ??= Date.now();
        if (Date.now() - lostAt >= patienceMs) throw goneError(service, error);
        await pause(AGAIN_MS, signal);
      }
    }
  }
  return {
    service,
    get: (path) => once({ method: "GET", path }),
    post: (path, body) => once({ method: "POST", path, ...(body !== undefined && { body }) }),
    delete: (path) => once({ method: "DELETE", path }),
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
    },
  };
}

async function refusedOr(answered: Answered): Promise<Answered> {
  if (answered.status < 400) return answered;
  throw parseRefusal(answered.status, await textOf(answered));
}

function parseRefusal(status: number, text: string): ServiceError {
  const { error } = JSON.parse(text) as {
    error: { message: string; hint: string | null; exitCode: number };
  };
  const exitCode = Object.values(ExitCode).find((code) => code === error.exitCode);
  return new ServiceError(status, error.message, {
    ...(error.hint !== null && { hint: error.hint }),
    ...(exitCode !== undefined && { exitCode }),
  });
}

async function textOf({ body }: Answered): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function goneError({ pid }: ServiceFile, cause: LostConnection): UserError {
  return new UserError(`the queue service (process ${pid}) is gone`, {
    hint: "start it again: sshoal serve (accepted jobs continue)",
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
