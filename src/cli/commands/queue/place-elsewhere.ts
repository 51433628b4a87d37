// Where jobs of a service on another computer run: in a directory there, or in a copy of this one.

import { isAbsolute } from "node:path";
import type { QueueInfo } from "../../../api/queue-service.js";
import { UserError } from "../../../errors.js";
import { ServiceError } from "../../../service/client/service-answer.js";
import type { ServiceClient } from "../../../service/client/service-client.js";
import type { RawJob } from "../../options/queue/job-ask.js";

/** Where jobs will run, and what was said about them. */
export interface JobsPlace {
  /** The directory in which paths begin. */
  readonly cwd: string;
  readonly said: Partial<RawJob>;
  /** Also jobs that could run in place get a copy. */
  readonly freezes: boolean;
}

type Said = Pick<JobsPlace, "said" | "freezes">;

/** `asked`: what was asked ahead. Throws UserError if there is no such directory there. */
export async function placeElsewhere(
  client: ServiceClient,
  queue: QueueInfo,
  { said, freezes }: Said,
  asked: Promise<string> | null,
): Promise<JobsPlace> {
  const isSent = freezes || said.copyForward !== undefined || queue.machines.length > 0;
  if (isSent) {
    refuseForCopies(said, client);
    return { cwd: process.cwd(), said, freezes: true };
  }
  if (said.cwd === undefined && queue.cwd !== null) return { cwd: queue.cwd, said, freezes };
  const cwd = await (asked ?? directoryThere(client, said.cwd ?? process.cwd()));
  return { cwd, said: said.cwd === undefined ? said : { ...said, cwd }, freezes };
}

/** Before the queue is known, to save a round trip. Null: it is not needed. */
export function askAhead(client: ServiceClient, { said, freezes }: Said): Promise<string> | null {
  if (freezes || said.copyForward !== undefined) return null;
  const asked = directoryThere(client, said.cwd ?? process.cwd());
  // A queue with a directory of its own needs no other.
  asked.catch(() => {});
  return asked;
}

/** A path as typed; `~` and relative ones begin in the home there. Returns it as an absolute path. */
export async function directoryThere(client: ServiceClient, typed: string): Promise<string> {
  const asked = `/v1/directory?${new URLSearchParams({ path: typed })}`;
  const { directory } = await client
    .get<{ directory: string | null }>(asked)
    .catch((error: unknown): { directory: string | null } => {
      // A service of version 0.4 has no such route.
      if (error instanceof ServiceError && error.status === 404 && isAbsolute(typed))
        return { directory: typed };
      throw error;
    });
  if (directory !== null) return directory;
  throw new UserError(
    `there is no directory ${typed} on the computer of the queue service${client.door.at}`,
    { hint: "--cwd DIRECTORY names one there; --copy-forward sends this directory" },
  );
}

function refuseForCopies({ cwd, out, resultsHere }: Partial<RawJob>, { door: { at } }: ServiceClient): void {
  if (cwd !== undefined)
    throw new UserError(
      `--cwd ${cwd}: jobs get a copy of this directory, which is sent to the queue service${at}`,
      {
        hint: "leave out --cwd, or leave out --copy-forward and --freeze to run jobs in a directory there",
      },
    );
  if (resultsHere)
    throw new UserError(`--results-here: this directory is not on the computer of the queue service${at}`, {
      hint: "leave it out: sshoal logs prints the output",
    });
  if (out !== undefined && !isAbsolute(out))
    throw new UserError(`--out ${out}: must be an absolute path on the computer of the queue service${at}`, {
      hint: `for example --out /tmp/${out}`,
    });
}
