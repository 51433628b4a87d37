// A tool: its name, what a client reads about it, and what it does when it is called.

import { type Fields, objectSchema, readArguments, type ValuesOf } from "./arguments.js";
import type { Host } from "./host.js";

/** One request of a client. */
export interface Call {
  readonly host: Host;
  /** Aborts when the client takes its request back. Jobs are never stopped by that. */
  readonly signal: AbortSignal;
  /** Reports how many of how many jobs have ended, if the client wants to know. */
  readonly progress: (ended: number, all: number) => void;
}

export type Answer = Readonly<Record<string, unknown>>;

export interface Tool {
  readonly name: string;
  readonly about: string;
  readonly fields: Fields;
  readonly inputSchema: { type: "object" } & Record<string, unknown>;
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint: boolean };
  /** Throws UserError for what the client can correct. */
  readonly call: (given: unknown, call: Call) => Promise<Answer>;
}

interface Described<F extends Fields> {
  readonly name: string;
  readonly about: string;
  readonly fields: F;
  readonly required?: readonly (keyof F & string)[];
  /** `looks`: it changes nothing. `ends`: it may end jobs. */
  readonly does: "looks" | "adds" | "ends";
  readonly call: (values: ValuesOf<F>, call: Call) => Promise<Answer>;
}

export function tool<F extends Fields>({ required = [], does, call, ...about }: Described<F>): Tool {
  return {
    ...about,
    inputSchema: objectSchema(about.fields, required),
    annotations: { readOnlyHint: does === "looks", destructiveHint: does === "ends" },
    call: async (given, request) => call(readArguments(about.fields, required, given), request),
  };
}
