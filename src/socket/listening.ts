// A socket of this process in a private directory, for other processes of the same account.

import { randomBytes } from "node:crypto";
import { chmodSync, readdirSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { JsonChannel } from "./json-channel.js";
import { isPrivateDir } from "./private-dir.js";

/** The kernel's limit, without the NUL at its end. */
const MOST_PATH_BYTES = 107;
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
    const path = join(dir, `${process.pid}-${randomBytes(3).toString("hex")}${ENDING}`);
    if (Buffer.byteLength(path) > MOST_PATH_BYTES || !isPrivateDir(dir)) continue;
    await removeStale(dir);
    const listening = await listenAt(path, onChannel);
    if (listening !== null) return listening;
  }
  return null;
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

function hasBegun(server: Server, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(path, () => {
      chmodSync(path, 0o600);
      server.on("error", () => {});
      resolve(true);
    });
  });
}

/** Removes sockets of killed processes, on which no process listens. */
async function removeStale(dir: string): Promise<void> {
  const sockets = readdirSync(dir).filter((name) => name.endsWith(ENDING) && isOfGone(name));
  await Promise.all(sockets.map((name) => removeIfStale(join(dir, name))));
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

function removeIfStale(path: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => socket.destroy());
    socket.once("error", ({ code }: NodeJS.ErrnoException) => {
      if (code === "ECONNREFUSED") rmSync(path, { force: true });
    });
    socket.once("close", () => resolve());
  });
}
