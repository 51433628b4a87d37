// A relay in front of a port or of a unix socket, for connections that are slow, silent or cut.

import { chmodSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { giveToRemote } from "./account.js";

export interface Relay {
  /** 0: it listens on a unix socket. */
  readonly port: number;
  /** Connections accepted so far, including refused ones. */
  connections(): number;
  /** Bytes sent to the target so far. */
  bytes(): number;
  /** How many of those connections are open now. */
  open(): number;
  /** Resets every connection. */
  cut(): void;
  /** Lets this many more bytes through to the target, then ends every connection and calls back. */
  cutAfter(bytes: number, onCut: () => void): void;
  /** Stops all data in both directions; connections stay open. */
  pause(): void;
  resume(): void;
  /** New connections are reset at once. */
  refuse(): void;
  accept(): void;
  stop(): Promise<void>;
}

export interface RelayOptions {
  readonly delayMs?: number;
  /** Towards the target, per connection. */
  readonly bytesPerSecond?: number;
}

/** On a free port, for a port. */
export function startRelay(targetPort: number, options: RelayOptions = {}): Promise<Relay> {
  return relay(
    () => connect({ port: targetPort, host: "127.0.0.1", noDelay: true, allowHalfOpen: true }),
    { port: 0, host: "127.0.0.1" },
    options,
  );
}

/** On a socket of the remote account, for another socket. */
export async function startSocketRelay(path: string, target: string): Promise<Relay> {
  const made = await relay(() => connect({ path: target, allowHalfOpen: true }), { path }, {});
  chmodSync(path, 0o600);
  giveToRemote(path);
  return {
    ...made,
    async stop() {
      await made.stop();
      rmSync(path, { force: true });
    },
  };
}

async function relay(
  dial: () => Socket,
  place: { readonly path: string } | { readonly port: number; readonly host: string },
  options: RelayOptions,
): Promise<Relay> {
  const { delayMs = 0, bytesPerSecond = Number.POSITIVE_INFINITY } = options;
  const targets = new WeakSet<Socket>();
  const state = { count: 0, bytes: 0, isPaused: false, isRefusing: false, sockets: new Set<Socket>() };
  let fuse: { left: number; onCut: () => void } | null = null;
  const forward = (from: Socket, to: Socket) => {
    from.on("data", (chunk) => later(delayMs, () => pass(chunk, from, to)));
    from.on("end", () => later(delayMs, () => to.end()));
    from.on("error", () => to.destroy());
    from.on("close", () => state.sockets.delete(from));
    state.sockets.add(from);
    if (state.isPaused) from.pause();
  };
  const pass = (chunk: Buffer, from: Socket, to: Socket) => {
    const isForward = targets.has(to);
    if (isForward) state.bytes += chunk.length;
    if (!to.writable || burns(chunk, to)) return;
    const isRoom = to.write(chunk);
    const resume = () => state.isPaused || from.resume();
    const restMs = isForward ? (1000 * chunk.length) / bytesPerSecond : 0;
    if (isRoom && restMs === 0) return;
    from.pause();
    if (restMs > 0) setTimeout(resume, restMs);
    else to.once("drain", resume);
  };
  /** Bytes that were let through arrive before the end does. */
  const burns = (chunk: Buffer, to: Socket): boolean => {
    if (fuse === null || !targets.has(to)) return false;
    fuse.left -= chunk.length;
    if (fuse.left > 0) return false;
    const { left, onCut } = fuse;
    fuse = null;
    to.end(chunk.subarray(0, chunk.length + left), () => {
      cut();
      onCut();
    });
    return true;
  };
  const server = createServer({ noDelay: true, allowHalfOpen: true }, (near) => {
    state.count++;
    if (state.isRefusing) return void end(near);
    const far = dial();
    targets.add(far);
    forward(near, far);
    forward(far, near);
  });
  await new Promise<void>((resolve) => server.listen(place, resolve));
  const cut = () => {
    for (const socket of state.sockets) end(socket);
  };
  const address = server.address();
  return {
    port: typeof address === "object" ? (address?.port ?? 0) : 0,
    connections: () => state.count,
    bytes: () => state.bytes,
    open: () => Math.ceil(state.sockets.size / 2),
    cut,
    cutAfter(left, onCut) {
      fuse = { left, onCut };
    },
    pause() {
      state.isPaused = true;
      for (const socket of state.sockets) socket.pause();
    },
    resume() {
      state.isPaused = false;
      for (const socket of state.sockets) socket.resume();
    },
    refuse() {
      state.isRefusing = true;
    },
    accept() {
      state.isRefusing = false;
    },
    async stop() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Only TCP has a reset. */
function end(socket: Socket): void {
  if (socket.remotePort === undefined) socket.destroy();
  else socket.resetAndDestroy();
}

function later(delayMs: number, act: () => void): void {
  if (delayMs === 0) act();
  else setTimeout(act, delayMs);
}
