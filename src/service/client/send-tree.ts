// Sends a working directory to a service on another computer, which stores it as one that was frozen there. Only files that the
// service does not have travel.

import { createReadStream } from "node:fs";
import path from "node:path";
import { UserError } from "../../errors.js";
import { scanTree, type Tree } from "../../remote/tree/tree.js";
import { ServiceError, StrangeAnswer } from "./service-answer.js";
import type { ServiceClient } from "./service-client.js";

interface SentTree {
  readonly tree: Tree;
  readonly sentBytes: number;
}

/** A file may change while it is sent; others may clean up. */
const TRIES = 3;

/** `paths`: relative to `dir`. Throws UserError. */
export async function sendTree(
  client: ServiceClient,
  dir: string,
  paths: readonly string[],
): Promise<SentTree> {
  for (let attempt = 1; ; attempt++) {
    const tree = await scanTree(dir, paths);
    const entries = tree.entries.map((entry) => ({ ...entry, mtime: entry.mtime.getTime() }));
    const { missing } = await client
      .post<{ missing: readonly string[] }>("/v1/trees", { entries }, "repeats")
      .catch((error: unknown) => {
        throw error instanceof ServiceError && error.status === 404 ? tooOld(client, error) : error;
      });
    if (missing.length === 0) return { tree, sentBytes: 0 };
    const wanted = filesOf(tree, missing);
    const head = Buffer.from(`${JSON.stringify({ entries, sent: missing })}\n`);
    const sentBytes = wanted.reduce((sum, { size }) => sum + size, 0);
    try {
      await client.send(`/v1/trees/${tree.hash || "empty"}`, {
        bytes: head.length + sentBytes,
        pieces: () => contentOf(dir, head, wanted),
      });
      return { tree, sentBytes };
    } catch (error) {
      const hasChanged =
        error instanceof FileChanged || (error instanceof ServiceError && error.status === 409);
      if (!hasChanged) throw error;
      if (attempt === TRIES)
        throw new UserError(`${dir} changes while it is sent: ${error.message}`, {
          hint: "wait until it is complete, or exclude a file with a line in .sshoalignore",
          cause: error,
        });
    }
  }
}

function tooOld({ door, service }: ServiceClient, cause: ServiceError): UserError {
  return new UserError(
    `the queue service${door.at} is sshoal ${service.version}, which takes no directories`,
    {
      hint: "install a newer sshoal there, and start it again: sshoal serve restart",
      cause,
    },
  );
}

interface Wanted {
  readonly path: string;
  readonly size: number;
}

/** One file of each content, in the order of the contents. */
function filesOf({ entries }: Tree, contents: readonly string[]): Wanted[] {
  const byContent = new Map<string, Wanted>();
  for (const entry of entries) if (entry.type === "File") byContent.set(entry.sha256, entry);
  return contents.map((content) => {
    const found = byContent.get(content);
    if (found === undefined) throw new StrangeAnswer("it asks for a file that is not sent");
    return found;
  });
}

class FileChanged extends Error {}

/** Exactly as many bytes as were announced. */
async function* contentOf(dir: string, head: Buffer, files: readonly Wanted[]): AsyncGenerator<Buffer> {
  yield head;
  for (const { path: relative, size } of files) {
    let sent = 0;
    if (size > 0)
      for await (const piece of createReadStream(path.join(dir, relative), { end: size - 1 })) {
        sent += (piece as Buffer).length;
        yield piece as Buffer;
      }
    if (sent !== size) throw new FileChanged(relative);
  }
}
