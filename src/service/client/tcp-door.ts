// The door to a service that listens on TCP. Each request carries the token.

import { connect, type Socket } from "node:net";
import path from "node:path";
import { UserError } from "../../errors.js";
import { exchange } from "./http-exchange.js";
import { parseAnswer, refusedOr, ServiceError, StrangeAnswer, textOf } from "./service-answer.js";
import { checkVersion, type Door, LostConnection, LostLink } from "./service-door.js";
import type { ServiceFile } from "./service-file.js";

interface Place {
  readonly host: string;
  readonly port: number;
}

const PATIENCE_MS = 30_000;
const CONNECT_WITHIN_MS = 20_000;
/** Without an answer of the other computer for about ten seconds more, the connection counts as lost. */
const KEEPALIVE_MS = 15_000;

export function tcpDoor(place: Place, token: string): Door {
  const shown = `${place.host.includes(":") ? `[${place.host}]` : place.host}:${place.port}`;
  const at = ` at tcp://${shown}`;
  const headers = { host: shown, authorization: `Bearer ${token}` };
  let service: ServiceFile | null = null;
  const dialOnce = async (signal?: AbortSignal): Promise<Socket | null> => {
    try {
      return await dial(place, signal);
    } catch (error) {
      if (service === null) throw unreachable(error, at, place);
      if ((error as NodeJS.ErrnoException).code === "ECONNREFUSED") return null;
      throw new LostLink(`tcp://${shown} cannot be reached`, { cause: error });
    }
  };
  return {
    at,
    startCommand: `sshoal serve --listen ${shown}, on that computer`,
    isHere: false,
    headers,
    patienceMs: PATIENCE_MS,
    async dial(signal) {
      if (service === null) {
        const first = await dialOnce(signal);
        if (first === null) return null;
        service = await askAbout(first, { headers, shown, at });
        checkVersion(service, at);
      }
      const socket = await dialOnce(signal);
      return socket && { service, socket };
    },
    close() {},
  };
}

function dial({ host, port }: Place, signal?: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true });
    const end = (error: Error) => {
      socket.destroy();
      reject(error);
    };
    const abort = () => end(new Error("given up"));
    const timer = setTimeout(
      () => end(Object.assign(new Error("no answer"), { code: "ETIMEDOUT" })),
      CONNECT_WITHIN_MS,
    );
    signal?.addEventListener("abort", abort, { once: true });
    socket.once("error", end);
    socket.once("close", () => clearTimeout(timer));
    socket.once("connect", () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      socket.setKeepAlive(true, KEEPALIVE_MS);
      resolve(socket);
    });
  });
}

interface Asking {
  readonly headers: Readonly<Record<string, string>>;
  readonly shown: string;
  readonly at: string;
}

/** Throws UserError if the service refuses the token, or if it is none. */
async function askAbout(socket: Socket, { headers, shown, at }: Asking): Promise<ServiceFile> {
  try {
    const asked = { method: "GET", path: "/v1/health", headers } as const;
    const health = parseAnswer<{
      pid: number;
      version: string;
      startedAt: number;
      database: string;
    }>(await textOf(await refusedOr(await exchange(socket, asked))));
    const { pid, version, startedAt } = health;
    return {
      pid,
      version,
      startedAt,
      socket: shown,
      listen: shown,
      node: null,
      keepJobs: null,
      keepDays: null,
      usesThisComputer: true,
      state: path.dirname(health.database),
    };
  } catch (error) {
    if (error instanceof ServiceError && error.status === 401)
      throw new UserError(`the queue service${at} refuses the token`, {
        hint: "copy its file `token` again, and name it with --token-file FILE, or put its content into SSHOAL_TOKEN",
        cause: error,
      });
    if (error instanceof ServiceError) throw error;
    if (!(error instanceof LostConnection || error instanceof StrangeAnswer || error instanceof TypeError))
      throw error;
    throw new UserError(`no queue service answers${at}`, {
      hint: "sshoal serve status, on that computer, prints where its service listens",
      cause: error,
    });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection is refused",
  ENOTFOUND: "no computer has that name",
  EAI_AGAIN: "the name cannot be looked up now",
  ETIMEDOUT: "it does not answer",
  EHOSTUNREACH: "there is no way to it",
  ENETUNREACH: "there is no way to it",
};

function unreachable(cause: unknown, at: string, { host, port }: Place): UserError {
  const { code = "", message } = cause as NodeJS.ErrnoException;
  const hint =
    code === "ENOTFOUND"
      ? `is ${host} spelled correctly?`
      : `start it on that computer: sshoal serve --listen 0.0.0.0:${port}; or ask through ssh: --server user@${host}`;
  return new UserError(`the queue service${at} cannot be reached: ${REASONS[code] ?? message}`, {
    hint,
    cause,
  });
}
