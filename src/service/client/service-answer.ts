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

/** Throws ServiceError. */
export async function refusedOr(answered: Answered): Promise<Answered> {
  if (answered.status < 400) return answered;
  throw parseRefusal(answered.status, await textOf(answered));
}

export async function textOf({ body }: Answered): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
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
