// Reads the JSON of a request, up to a limit.

import type { IncomingMessage } from "node:http";
import { Refusal } from "./refusal.js";

/** Undefined: there is none. Throws a Refusal. */
export async function readBody(request: IncomingMessage, mostBytes: number): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  if (Number(request.headers["content-length"] ?? 0) > mostBytes) throw tooLarge(mostBytes);
  for await (const chunk of contentOf(request)) {
    bytes += chunk.length;
    // What is too much is read and forgotten: its sender reads no answer before it has sent all.
    if (bytes <= mostBytes) chunks.push(chunk);
  }
  if (bytes > mostBytes) throw tooLarge(mostBytes);
  if (bytes === 0) return undefined;
  const type = request.headers["content-type"] ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type) || request.headers["content-encoding"] !== undefined)
    throw new Refusal(415, "the body must be JSON", { hint: "content-type: application/json" });
  return parseJson(Buffer.concat(chunks));
}

/** As it comes. Throws a Refusal if the connection is lost before its end. */
export async function* contentOf(request: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    yield* request as AsyncIterable<Buffer>;
  } catch (error) {
    throw new Refusal(400, "the body is not whole", { cause: error });
  }
}

/** Throws a Refusal. */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw new Refusal(400, `the body is no JSON: ${(error as Error).message}`, { cause: error });
  }
}

function tooLarge(mostBytes: number): Refusal {
  return new Refusal(413, `the body has more than ${mostBytes} bytes`, {
    hint: "send it in parts",
  });
}
