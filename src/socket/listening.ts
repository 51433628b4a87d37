// A socket of this process in a private directory, for other processes of the same account.

import { randomBytes } from "node:crypto";
import { chmodSync, readdirSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { JsonChannel } from "./json-channel.js";
import { isPrivate, isPrivateDir } from "./private-dir.js";

/** The kernel's limit, without the NUL at its end. */
export const MOST_PATH_BYTES = 107;
const MOST_CHANNELS = 64;
const ENDING = ".sock";

export interface Listening {
  readonly path: string;
  /** Ends every channel, and removes the socket. */
  close(): Promise<void>;
}

/** In the first suitable directory; null: none is suitable. */
export async function listenIn(
  dirs: readonly string[],
  onChannel: (channel: JsonChannel) => void,
): Promise<Listening | null> {
  for (const dir of dirs) {
    const path = socketPathIn([dir]);
    if (path === null) continue;
    await removeStale(dir);
    const listening = await listenAt(path, onChannel);
    if (listening !== null) return listening;
  }
  return null;
}

/** For a new socket of this process, in the first directory that is private and short enough; null: none is. */
export function socketPathIn(dirs: readonly string[]): string | null {
  const paths = dirs.map((dir) => join(dir, `${process.pid}-${randomBytes(3).toString("hex")}${ENDING}`));
  const isUsable = (path: string) =>
    Buffer.byteLength(path) <= MOST_PATH_BYTES && isPrivateDir(dirname(path));
  return paths.find(isUsable) ?? null;
}

async function listenAt(path: string, onChannel: (channel: JsonChannel) => void): Promise<Listening | null> {
  const channels = new Set<JsonChannel>();
  const server = createServer((socket: Socket) => {
    const channel = new JsonChannel(socket);
    channels.add(channel);
    void channel.closed.then(() => channels.delete(channel));
    onChannel(channel);
  });
  server.maxConnections = MOST_CHANNELS;
  // The socket does not keep the process alive.
  server.unref();
  if (!(await hasBegun(server, path))) return null;
  return {
    path,
    close: async () => {
      server.close();
      rmSync(path, { force: true });
      await Promise.all([...channels].map((channel) => channel.end()));
    },
  };
}

/** False: it cannot listen there. Other accounts cannot use the socket. */
export function hasBegun(server: Server, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(path, () => {
      chmodSync(path, 0o600);
      server.on("error", () => {});
      resolve(true);
    });
  });
}

async function removeStale(dir: string): Promise<void> {
  for (const path of await findStale(dir)) rmSync(path, { force: true });
}

/** Sockets of processes that were killed: nothing listens there. None where others could have made them. */
export async function findStale(dir: string): Promise<string[]> {
  if (!isPrivate(dir)) return [];
  const sockets = readdirSync(dir).filter((name) => name.endsWith(ENDING) && isOfGone(name));
  const paths = sockets.map((name) => join(dir, name));
  const areStale = await Promise.all(paths.map(isStale));
  return paths.filter((_, index) => areStale[index]);
}

/** A starting process has a socket on which it does not listen yet. */
function isOfGone(name: string): boolean {
  try {
    process.kill(Number.parseInt(name, 10), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

/** A socket on which nothing listens. */
export function isStale(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    let isRefused = false;
    socket.once("connect", () => socket.destroy());
    socket.once("error", ({ code }: NodeJS.ErrnoException) => {
      isRefused = code === "ECONNREFUSED";
    });
    socket.once("close", () => resolve(isRefused));
  });
}
