// `grass daemon --no-broker --connect ADDRESS`: runs jobs of queues that were created on this computer, for a broker that need
// not reach it. A lost connection is made again.

import { randomBytes } from "node:crypto";
import { mkdirSync, watch } from "node:fs";
import path from "node:path";
import { ExitCode, UserError } from "../../../errors.js";
import type { Capacities } from "../../../model/queue.js";
import { readHolder, takeLock } from "../../../run/home/lock.js";
import { connectService, type ServiceClient } from "../../../service/client/service-client.js";
import { type Door, LostConnection } from "../../../service/client/service-door.js";
import type { ServedShell } from "../../../transport/ssh2/shell-server.js";
import { readName } from "../../options/queue/join-options.js";
import type { AskedServer } from "../../options/queue/server-options.js";
import { onFirstEndingSignals } from "../../terminal/ending-signals.js";
import { note } from "../../terminal/note.js";
import { aborted, dial, dialAgain, noAnswer } from "../queue/join.js";
import { loadQueues } from "../queue/queued-jobs.js";
import { needDoor, noServiceError } from "../queue/service-here.js";
import { loadWorkerFile, saveWorkerFile, type WorkerPlace, workerPlace } from "./worker-file.js";

export interface WorkerAsked {
  readonly server: AskedServer;
  readonly capacity: Capacities | null;
}

export async function grassWorker({ server, capacity }: WorkerAsked): Promise<ExitCode> {
  const place = workerPlace();
  const leaving = new AbortController();
  onFirstEndingSignals(() => leaving.abort());
  const door = await needDoor(server);
  const client = await connectService(door);
  if (client === null) throw noServiceError(door);
  const holder = readHolder(place.lock);
  if (holder !== null)
    throw new UserError(`a worker runs already: process ${holder.pid}`, { hint: "grass stop" });
  mkdirSync(path.dirname(place.lock), { recursive: true, mode: 0o700 });
  const unlock = takeLock(place.lock);
  const before = loadWorkerFile(place.file);
  const typed = server.typed ?? "";
  const queues = before?.server === typed ? before.queues : [];
  const tokenFile = server.tokenFile && path.resolve(server.tokenFile);
  const worker = { server: typed, tokenFile, name: readName(undefined), capacity, queues };
  saveWorkerFile(place.file, worker);
  note(`${worker.name} is connected to the broker${door.at}; create its queues on this computer`);
  const changes = new Changes(place);
  try {
    await serveQueues({ door, client, place, changes, name: worker.name, leaving: leaving.signal });
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
  } finally {
    changes.close();
    door.close();
    unlock();
  }
  note("left: running jobs run on, and the broker collects them when this computer is back");
  return ExitCode.Success;
}

interface Serving {
  readonly door: Door;
  readonly client: ServiceClient;
  readonly place: WorkerPlace;
  readonly changes: Changes;
  readonly name: string;
  readonly leaving: AbortSignal;
}

/** A worker that dials again with other queues keeps its jobs: the broker takes its new connection instead of the old one. */
async function serveQueues({ door, client, place, changes, name, leaving }: Serving): Promise<void> {
  const me = { name, capacity: null, process: randomBytes(16).toString("hex") };
  let shell: ServedShell | null = null;
  let isLost = false;
  while (!leaving.aborted) {
    const { queues: own = [] } = loadWorkerFile(place.file) ?? {};
    const queues = isLost ? own : await existing(own, client);
    if (queues.length > 0) {
      const joining = { ...me, queues };
      shell = isLost ? await dialAgain(door, joining, leaving) : await dialOnce(door, joining, leaving);
      note(`joined: ${queues.length === 1 ? "queue" : "queues"} ${queues.join(", ")}`);
    }
    const gone: Promise<string> = shell?.gone ?? new Promise<never>(() => {});
    const reason: string | null = await Promise.race([gone, changes.next(), aborted(leaving)]);
    isLost = reason !== null;
    if (isLost) note(`lost the link: ${reason}; jobs run on, and it is made again`);
  }
  shell?.close();
}

/** Another computer may have deleted one. */
async function existing(queues: readonly string[], client: ServiceClient): Promise<readonly string[]> {
  const known = new Set((await loadQueues(client)).map(({ name }) => name));
  return queues.filter((name) => known.has(name));
}

async function dialOnce(
  door: Door,
  joining: Parameters<typeof dial>[1],
  leaving: AbortSignal,
): Promise<ServedShell> {
  const shell = await dial(door, joining, leaving).catch((error: unknown) => {
    throw error instanceof LostConnection ? noAnswer(door, error) : error;
  });
  if (shell === null) throw noServiceError(door);
  return shell;
}

/** Resolves when a command beside the worker has changed its queues. */
class Changes {
  readonly #watcher;
  #isDue = false;
  #wake = () => {};

  constructor({ file }: WorkerPlace) {
    this.#watcher = watch(path.dirname(file), (_, name) => {
      if (name !== path.basename(file)) return;
      this.#isDue = true;
      this.#wake();
    });
  }

  async next(): Promise<null> {
    if (!this.#isDue)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    this.#isDue = false;
    return null;
  }

  close(): void {
    this.#watcher.close();
  }
}
