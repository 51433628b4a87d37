// Sends events to many readers: those that each one missed, at its own pace, then every new one as it happens.

import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { QueueEvent } from "../model/queue-event.js";
import type { QueueService } from "./queue-service.js";
import { Refusal } from "./refusal.js";

/** A reader that is further behind is disconnected. It may connect again after its last event. */
const MOST_WAITING_BYTES = 8 << 20;
const PAGE = 1000;
/** A comment shows readers that the connection is alive, and shows us that they are. */
const HEARTBEAT_MS = 15_000;

export type Begin = (response: ServerResponse, signal: AbortSignal) => Promise<void>;

export class EventReaders {
  readonly #service: QueueService;
  /** Those that have every event so far. */
  readonly #live = new Set<ServerResponse>();
  readonly #stop: () => void;
  #heartbeat: NodeJS.Timeout | null = null;

  constructor(service: QueueService) {
    this.#service = service;
    this.#stop = service.onEvent((event) => {
      if (this.#live.size > 0) this.#sendToAll(formatEvent(event));
    });
  }

  /** `after` null: from now on. Throws a Refusal if later events are no longer kept, or of another history. */
  begin(after: number | null): Begin {
    const { seq } = this.#service.health;
    const from = after ?? seq;
    if (from > seq || this.#service.eventsAfter(from, 1) === null) throw goneError(from);
    return async (response, signal) => {
      response.once("close", () => this.#leave(response));
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
      response.write(": sshoal\n\n");
      await this.#catchUp(response, from, signal);
    };
  }

  close(): void {
    this.#stop();
    for (const response of this.#live) {
      response.end();
      this.#leave(response);
    }
  }

  /** Until it has every event, and gets the next ones like all others. Ends it if events that it needs are no longer kept. */
  async #catchUp(response: ServerResponse, from: number, signal: AbortSignal): Promise<void> {
    let last = from;
    while (!signal.aborted) {
      const page = this.#service.eventsAfter(last, PAGE);
      if (page === null) break;
      if (page.length === 0) return this.#join(response);
      last = page.at(-1)?.seq ?? last;
      const isFull = !response.write(page.map(formatEvent).join(""));
      if (isFull) await once(response, "drain", { signal }).catch(() => {});
    }
    response.end();
  }

  /** In the same turn as the look that found no more events: none falls between. */
  #join(response: ServerResponse): void {
    this.#live.add(response);
    this.#heartbeat ??= setInterval(() => this.#sendToAll(":\n\n"), HEARTBEAT_MS).unref();
  }

  #sendToAll(text: string): void {
    const bytes = Buffer.from(text);
    for (const response of this.#live) {
      response.write(bytes);
      if (response.writableLength > MOST_WAITING_BYTES) response.destroy();
    }
  }

  #leave(response: ServerResponse): void {
    this.#live.delete(response);
    if (this.#live.size > 0 || this.#heartbeat === null) return;
    clearInterval(this.#heartbeat);
    this.#heartbeat = null;
  }
}

function formatEvent(event: QueueEvent): string {
  return `id: ${event.seq}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`;
}

function goneError(after: number): Refusal {
  return new Refusal(410, `events after ${after} are no longer kept`, {
    hint: "read GET /v1/state, and go on after its seq",
  });
}
