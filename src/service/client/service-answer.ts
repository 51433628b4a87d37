// The answer of the service as text, or as the error with which it refuses.

import { ExitCode, UserError } from "../../errors.js";
import type { Answered } from "./http-exchange.js";

/** The service refused a request. */
export class ServiceError extends UserError {
  readonly status: number;

  constructor(status: number, message: string, options: { hint?: string; exitCode?: ExitCode }) {
    super(message, options);
    this.status = status;
  }
}

/** What answers is no queue service, or a broken one. */
export class StrangeAnswer extends UserError {
  constructor(what: string) {
    super(`the answer is not that of a queue service: ${what}`, {
      hint: "look at what runs there: sshoal serve status, on that computer",
    });
  }
}

/** All jobs of a long history fit. A text of JavaScript cannot be longer. */
const MOST_BYTES = 500 << 20;
const MOST_REFUSAL_BYTES = 1 << 20;

/** Throws ServiceError, and StrangeAnswer if it does not say why. */
export async function refusedOr(answered: Answered): Promise<Answered> {
  if (answered.status < 400) return answered;
  throw parseRefusal(answered.status, await textOf(answered, MOST_REFUSAL_BYTES));
}

/** Throws StrangeAnswer if it is longer. */
export async function textOf({ body }: Answered, mostBytes: number = MOST_BYTES): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new StrangeAnswer(`it has more than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Every answer is an object; its fields are not checked. Throws StrangeAnswer. */
export function parseAnswer<T>(text: string): T {
  const parsed = parseOrNull(text);
  if (typeof parsed !== "object" || parsed === null) throw new StrangeAnswer("it is no JSON object");
  return parsed as T;
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function parseRefusal(status: number, text: string): ServiceError {
  const { error } = parseAnswer<{ error?: Readonly<Record<string, unknown>> | null }>(text);
  const { message, hint, exitCode: asked } = error ?? {};
  if (typeof message !== "string") throw new StrangeAnswer(`status ${status} without a reason`);
  // A refusal is no success, whatever it says.
  const exitCode = Object.values(ExitCode).find((code) => code === asked && code !== ExitCode.Success);
  return new ServiceError(status, message, {
    ...(typeof hint === "string" && { hint }),
    ...(exitCode !== undefined && { exitCode }),
  });
}
