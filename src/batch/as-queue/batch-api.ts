// The HTTP API of a followed batch, on a socket of its own. Most batches are never asked, so the first connection loads the
// server and what it answers from.

import type { Socket } from "node:net";
import { type ApiSocket, openApiSocket } from "../../api/api-socket.js";
import type { HttpApi } from "../../api/make-api.js";
import { UserError } from "../../errors.js";
import type { RunEvent } from "../../model/event.js";
import { socketPathIn } from "../../socket/listening.js";
import type { BatchQueue } from "./batch-queue.js";
import type { FollowedBatch } from "./followed-batch.js";

export interface BatchApi {
  /** Null: there is no directory for a socket. */
  readonly path: string | null;
  /** Requests are answered from now on. */
  serve(followed: FollowedBatch): void;
  /** Call it for every event, after it was applied. */
  note(event: RunEvent): void;
  close(): Promise<void>;
}

interface Serving {
  readonly http: HttpApi;
  readonly queue: BatchQueue;
}

/** `dirs`: possible directories for the socket. */
export async function openBatchApi(dirs: readonly string[]): Promise<BatchApi> {
  const startedAt = Date.now();
  let begin: (followed: FollowedBatch) => void = () => {};
  const running = new Promise<FollowedBatch>((resolve) => {
    begin = resolve;
  });
  let serving: Serving | null = null;
  let loading: Promise<Serving> | null = null;
  const load = async (): Promise<Serving> => {
    const [followed, { makeApi }, { BatchQueue }] = await Promise.all([
      running,
      import("../../api/make-api.js"),
      import("./batch-queue.js"),
    ]);
    const queue = new BatchQueue(followed, startedAt);
    const onBug = (error: unknown) =>
      followed.run.emit({ kind: "warning", message: `the API of the batch has a bug: ${String(error)}` });
    serving = { queue, http: makeApi({ service: queue, onShutdown: null, onBug }) };
    return serving;
  };
  const take = async (connection: Socket) => {
    connection.on("error", () => connection.destroy());
    loading ??= load();
    (await loading).http.take(connection);
  };
  const path = socketPathIn(dirs);
  const socket = path === null ? null : await listenAt(path, (connection) => void take(connection));
  return {
    path: socket === null ? null : path,
    serve: begin,
    note: (event) => serving?.queue.note(event),
    async close() {
      socket?.close();
      await serving?.http.close();
    },
  };
}

/** Null: it cannot listen there. The batch runs without it. */
async function listenAt(path: string, onConnection: (connection: Socket) => void): Promise<ApiSocket | null> {
  try {
    return await openApiSocket(path, onConnection);
  } catch (error) {
    if (error instanceof UserError) return null;
    throw error;
  }
}
