// What one route of the API is, and what it gets and gives.

import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { EventReaders } from "./event-readers.js";
import type { QueueService } from "./queue-service.js";
import type { Place, Read } from "./readers/fields.js";
import type { Query } from "./readers/query-readers.js";

export interface Route {
  readonly method: "GET" | "POST" | "DELETE";
  /** Parts in capital letters take any word: `/v1/jobs/QUEUE/ID`. */
  readonly path: string;
  /** What may follow the question mark; absent: nothing. */
  readonly query?: readonly string[];
  /** How much its body may have; absent: 1 MB. */
  readonly mostBytes?: number;
  /** Its body is not JSON, and is read as it comes. */
  readonly readsContent?: true;
  answer(call: Call): Reply | Promise<Reply>;
}

export interface Call {
  readonly service: QueueService;
  readonly readers: EventReaders;
  /** The words that the path has for parts in capital letters. */
  readonly words: Readonly<Record<string, string>>;
  readonly query: Query;
  /** For mistakes in the query: throws all of them. */
  read<T>(reading: (place: Place) => T): T;
  /** The body, read by rules. Throws every mistake of it. */
  body<T>(read: Read<T>): T;
  /** Of a route that reads it as it comes. */
  readonly content: AsyncIterable<Buffer>;
  /** Of an EventSource that connects again. */
  readonly lastEventId: string | undefined;
  /** Comes when the connection is lost or the API ends. */
  readonly signal: AbortSignal;
  /** Null: it ends by itself. */
  readonly shutDown: (() => void) | null;
  /** The protocol that the connection is to be used for; absent: HTTP. */
  readonly upgrade?: string;
}

export type Reply =
  | { readonly json: object; readonly after?: () => void }
  | { readonly text: string; readonly type: string }
  /** Ends the response. */
  | { readonly stream: (response: ServerResponse) => Promise<void> }
  /** The connection is used for another protocol from now on. */
  | {
      readonly protocol: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly take: (stream: Duplex) => void;
    };

/** Throws a Refusal for what a call to the service refused. */
export async function orStatus<T>(
  ask: () => T | Promise<T>,
  refusal: (error: unknown) => unknown,
): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw refusal(error);
  }
}
