// The socket of the API at its fixed path. One that is removed while the service runs, as by a cleaner of temporary
// files, is made again.

import { lstatSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { dirname } from "node:path";
import { UserError } from "../errors.js";
import { hasBegun, isStale, MOST_PATH_BYTES } from "../socket/listening.js";
import { isPrivateDir } from "../socket/private-dir.js";

/** How often the service looks whether its socket is there. A look takes some microseconds. */
const LOOK_MS = 3000;
const MOST_CONNECTIONS = 512;

export interface ApiSocket {
  /** No new connections. Removes the socket. */
  close(): void;
}

/**
 * Throws UserError if another process listens there, or if other accounts can enter the directory. The caller makes sure
 * that no other service of the same state directory starts at this moment.
 */
export async function openApiSocket(
  path: string,
  onConnection: (socket: Socket) => void,
  lookMs: number = LOOK_MS,
): Promise<ApiSocket> {
  checkPath(path);
  await removeStale(path);
  let server = createSocket(onConnection);
  if (!(await hasBegun(server, path)))
    throw new UserError(`${path}: cannot listen there`, { hint: `look at it: ls -ld ${dirname(path)}` });
  let isLooking = false;
  const look = async () => {
    if (isLooking || isThere(path)) return;
    isLooking = true;
    // Closing removes what is at the path, so it comes first.
    server.close();
    server = createSocket(onConnection);
    // Without success, the next look tries again.
    if (isPrivateDir(dirname(path))) await hasBegun(server, path);
    isLooking = false;
  };
  const timer = setInterval(() => void look(), lookMs);
  return {
    close() {
      clearInterval(timer);
      server.close();
    },
  };
}

function createSocket(onConnection: (socket: Socket) => void): Server {
  const server = createServer(onConnection);
  server.maxConnections = MOST_CONNECTIONS;
  return server;
}

function checkPath(path: string): void {
  if (Buffer.byteLength(path) > MOST_PATH_BYTES)
    throw new UserError(`${path}: longer than ${MOST_PATH_BYTES} bytes, which no socket can be`, {
      hint: "choose a shorter directory with --state",
    });
  const dir = dirname(path);
  if (!isPrivateDir(dir))
    throw new UserError(`${dir}: other accounts can enter it, or it cannot be made`, {
      hint: `close it: chmod 700 ${dir}`,
    });
}

async function removeStale(path: string): Promise<void> {
  if (!isThere(path)) return;
  if (lstatSync(path).isSocket() && !(await isStale(path)))
    throw new UserError(`${path}: another service listens there`, {
      hint: "use that one, or end it first: sshoal serve stop",
    });
  rmSync(path, { force: true });
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
