// The HTTP API over connections that it is given. node:http suffices: routes are few, and input is read by our rules.

import { once } from "node:events";
import { createServer, type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Problem } from "../errors.js";
import { admit } from "./door.js";
import { EventReaders } from "./event-readers.js";
import { findRoute } from "./find-route.js";
import type { OpenNetwork } from "./open-network.js";
import type { QueueService } from "./queue-service.js";
import { contentOf, readBody } from "./read-body.js";
import type { Place } from "./readers/fields.js";
import { readQuery } from "./readers/query-readers.js";
import { describeRefusal, throwIfAny } from "./refusal.js";
import type { Call, Reply } from "./route.js";
import { ROUTES } from "./routes/all-routes.js";

export interface HttpApi {
  /** Answers the requests of this connection. */
  take(connection: Socket): void;
  /** Ends every request that is open. */
  close(): Promise<void>;
}

export interface ApiParts {
  readonly service: QueueService;
  /** A client asked for the end of the service, and has its answer. Null: requests for that are refused. */
  readonly onShutdown: (() => void) | null;
  /** Its connections must show a token. Absent or null: there are no such ones. */
  readonly network?: () => Pick<OpenNetwork, "tokenFor" | "welcome"> | null;
  /** Gets our bugs; the request is answered with status 500. */
  readonly onBug: (error: unknown) => void;
}

const MOST_BYTES = 1 << 20;
/** Open answers are given this long to end. */
const END_MS = 1000;

export function makeApi({ service, onShutdown, network = () => null, onBug }: ApiParts): HttpApi {
  const readers = new EventReaders(service);
  const ending = new AbortController();
  const connections = new Set<Socket>();
  const answers = new Set<Promise<unknown>>();
  const server = createServer((request, response) => begin(request, response));
  const begin = (request: IncomingMessage, response: ServerResponse, upgrade?: string) => {
    const left = new AbortController();
    const closed = once(response, "close").then(() => {
      left.abort();
      answers.delete(closed);
    });
    answers.add(closed);
    const signal = AbortSignal.any([left.signal, ending.signal]);
    const about = {
      service,
      readers,
      shutDown: onShutdown,
      signal,
      ...(upgrade !== undefined && { upgrade }),
    };
    const admitted = async () => {
      admit(request, network()?.tokenFor(request.socket) ?? null);
      network()?.welcome(request.socket);
      await answer(request, response, about);
    };
    admitted().catch((error: unknown) => {
      const { status, body } = describeRefusal(error);
      if (status === 500) onBug(error);
      if (response.headersSent) return void response.destroy();
      // The rest of a body is read and forgotten, but not that of a stranger.
      if (status === 401) response.once("finish", () => request.socket.destroySoon());
      else request.resume();
      sendJson(response, status, body);
    });
  };
  // Also for protocols that no route has, such as the offer of HTTP/2 that curl makes: these get a plain answer.
  server.on("upgrade", (request, socket: Socket, head) => {
    socket.on("error", () => {});
    if (head.length > 0) socket.unshift(head);
    const response = new ServerResponse(request);
    response.assignSocket(socket);
    response.once("finish", () => socket.end());
    begin(request, response, request.headers.upgrade ?? "");
  });
  return {
    take(connection) {
      connections.add(connection);
      connection.once("close", () => connections.delete(connection));
      server.emit("connection", connection);
    },
    async close() {
      readers.close();
      ending.abort();
      await Promise.race([Promise.all(answers), sleep(END_MS, null, { ref: false })]);
      for (const each of connections) each.destroy();
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  about: Pick<Call, "service" | "readers" | "shutDown" | "signal" | "upgrade">,
): Promise<void> {
  const [path = "", ...search] = (request.url ?? "").split("?");
  const { route, words } = findRoute(ROUTES, request.method ?? "", path);
  // Node reads no body of a request that offers another protocol.
  const hasBody = about.upgrade === undefined && !route.readsContent;
  const parsed = hasBody ? await readBody(request, route.mostBytes ?? MOST_BYTES) : undefined;
  const problems: Problem[] = [];
  const read = <T>(reading: (place: Place) => T): T => {
    const value = reading({ where: "", problems });
    throwIfAny(problems);
    return value;
  };
  const query = read((place) => readQuery(new URLSearchParams(search.join("?")), route.query ?? [], place));
  const lastEventId = request.headers["last-event-id"];
  const reply = await route.answer({
    ...about,
    words,
    query,
    read,
    body: (rules) => read((place) => rules(parsed, place)),
    content: contentOf(request),
    lastEventId: typeof lastEventId === "string" ? lastEventId : undefined,
  });
  await send(response, reply);
}

async function send(response: ServerResponse, reply: Reply): Promise<void> {
  if ("stream" in reply) return reply.stream(response);
  if ("protocol" in reply) return switchProtocol(response, reply);
  if ("text" in reply) return sendText(response, 200, reply.type, reply.text);
  if (reply.after !== undefined) response.once("finish", reply.after);
  sendJson(response, 200, reply.json);
}

function switchProtocol(
  response: ServerResponse,
  { protocol, headers, take }: Extract<Reply, { protocol: string }>,
): void {
  const { socket } = response;
  if (socket === null) return;
  response.detachSocket(socket);
  // Nothing more is sent through it.
  response.emit("close");
  const given = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const lines = ["HTTP/1.1 101 Switching Protocols", "connection: upgrade", `upgrade: ${protocol}`, ...given];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  take(socket);
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  sendText(response, status, "application/json", `${JSON.stringify(body)}\n`);
}

function sendText(response: ServerResponse, status: number, type: string, text: string): void {
  const bytes = Buffer.from(text);
  response.writeHead(status, { "content-type": type, "content-length": bytes.length }).end(bytes);
}
