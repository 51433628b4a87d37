// An API over a real socket in a temporary directory, for one test file, and requests to it.

import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { type IncomingMessage, type RequestOptions, request } from "node:http";
import { afterEach, beforeEach } from "vitest";
import { type Api, openApi } from "../../../src/api/open-api.js";
import { connectService, type ServiceClient } from "../../../src/service/client/service-client.js";
import { socketDoor } from "../../../src/service/client/socket-door.js";
import { makeWorkspace, type Workspace } from "../../rig/workspace.js";
import { type ScriptedService, scriptedService } from "./scripted-service.js";

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at the JSON of an answer as it is
  readonly json: any;
}

export interface Served {
  work: Workspace;
  service: ScriptedService;
  socket: string;
  /** service@<host>.json. */
  file: string;
  shutdowns: number;
  readonly bugs: unknown[];
  open(): Promise<Api>;
  close(): Promise<void>;
  /** `body`: text is sent as it is, with the type of JSON. */
  ask(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<Answer>;
  stream(path: string, options?: RequestOptions): Promise<IncomingMessage>;
  client(patienceMs?: number): Promise<ServiceClient>;
}

export function useServed(): Served {
  let api: Api | null = null;
  const served: Served = {
    work: {} as Workspace,
    service: scriptedService(),
    socket: "",
    file: "",
    shutdowns: 0,
    bugs: [],
    async open() {
      api = await openApi({
        service: served.service,
        socketPath: served.socket,
        onShutdown: () => served.shutdowns++,
        onBug: (error) => served.bugs.push(error),
        lookMs: 10,
      });
      return api;
    },
    async close() {
      await api?.close();
      api = null;
    },
    async ask(method, path, body, options = {}) {
      const content = typeof body === "string" || body instanceof Buffer ? body : JSON.stringify(body);
      const headers = {
        ...(content !== undefined && { "content-type": "application/json" }),
        ...options.headers,
      };
      const answer = await send(method, path, content, { ...options, headers });
      const chunks: Buffer[] = [];
      for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      const isJson = answer.headers["content-type"] === "application/json";
      return {
        status: answer.statusCode ?? 0,
        headers: answer.headers,
        text,
        json: isJson ? JSON.parse(text) : null,
      };
    },
    stream: (path, options = {}) => send("GET", path, undefined, options),
    async client(patienceMs) {
      const client = await connectService(socketDoor(served.file), patienceMs);
      if (client === null) throw new Error("no service runs");
      return client;
    },
  };
  const send = (
    method: string,
    path: string,
    content: string | Buffer | undefined,
    options: RequestOptions,
  ) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const about = { socketPath: served.socket, method, path, agent: false, ...options };
      const sent = request(about, resolve).once("error", reject);
      sent.end(content);
    });
  beforeEach(async () => {
    served.work = await makeWorkspace();
    served.service = scriptedService();
    served.shutdowns = 0;
    served.bugs.length = 0;
    mkdirSync(served.work.path("s"), { mode: 0o700 });
    served.socket = served.work.path("s/api.sock");
    served.file = served.work.path("service.json");
    saveFile(served, "0.0.0-test");
    await served.open();
  });
  afterEach(async () => {
    await served.close();
    await served.work.remove();
  });
  return served;
}

export function saveFile({ file, socket, work }: Served, version: string): void {
  const about = { pid: process.pid, socket, version, state: work.dir, startedAt: 1 };
  writeFileSync(file, JSON.stringify(about));
  chmodSync(file, 0o600);
}
