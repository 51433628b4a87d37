// How a command reaches a queue service: on this computer, or on another one. Each request has a connection of its own.

import type { Duplex } from "node:stream";
import { UserError } from "../../errors.js";
import { VERSION } from "../../model/version.js";
import type { ServiceFile } from "./service-file.js";

/** A connection that carries one request of HTTP/1.1. */
export interface Dialled {
  readonly service: ServiceFile;
  readonly socket: Duplex;
}

export interface Door {
  /** Behind "the queue service": empty for this computer, or " on user@host". */
  readonly at: string;
  /** What to type to start a service there. */
  readonly startCommand: string;
  /** The service reads and writes the disk of this computer as this account. */
  readonly isHere: boolean;
  /** Headers of each request, such as `host`. Names are in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  /** How long a request that may be repeated is tried again after its connection was lost. */
  readonly patienceMs: number;
  /** Null: no service listens. Throws LostLink if the way there is lost, and UserError for what a repeat cannot change. */
  dial(signal?: AbortSignal): Promise<Dialled | null>;
  /** Ends what its connections share. */
  close(): void;
}

/** The other side is gone. It may have done what it was asked to do. */
export class LostConnection extends Error {}

/** The other computer cannot be reached now; its service may run. */
export class LostLink extends LostConnection {}

/** It can be reached, and no service listens. */
export class NotListening extends LostConnection {}

/** Throws UserError for another major version. */
export function checkVersion({ version, pid }: Pick<ServiceFile, "version" | "pid">, at: string): void {
  const [theirs, ours] = [version, VERSION].map((each) => each.split(".")[0]);
  if (theirs === ours) return;
  throw new UserError(
    `the queue service${at} (process ${pid}) is sshoal ${version}, and this is ${VERSION}`,
    {
      hint: "use the same version for both, or start the service again with this one: its jobs continue",
    },
  );
}
