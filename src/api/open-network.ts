// TCP connections to the API. Each request on them needs the token, and a connection that shows none is soon ended.

import { type AddressInfo, createServer, type Socket } from "node:net";
import { UserError } from "../errors.js";

export interface NetworkAsked {
  /** A name or an address. */
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly token: string;
}

export interface Network {
  /** `host:port`, with the name that was asked for. */
  readonly address: string;
  /** Only this computer can connect. */
  readonly isLoopback: boolean;
}

export interface OpenNetwork extends Network {
  /** Null: the socket is not of this network. */
  tokenFor(socket: Socket): string | null;
  /** A request of it had the token. */
  welcome(socket: Socket): void;
  /** No new connections. */
  close(): void;
}

const MOST_CONNECTIONS = 512;
/** Connections that have not shown the token yet. */
const MOST_STRANGERS = 64;
const SHOW_WITHIN_MS = 10_000;
const KEEPALIVE_MS = 15_000;

/** Throws UserError if it cannot listen there. */
export async function openNetwork(
  { host, port, token }: NetworkAsked,
  onConnection: (socket: Socket) => void,
): Promise<OpenNetwork> {
  const ours = new WeakSet<Socket>();
  const strangers = new Map<Socket, NodeJS.Timeout>();
  const forget = (socket: Socket) => {
    clearTimeout(strangers.get(socket));
    strangers.delete(socket);
  };
  const server = createServer(
    { keepAlive: true, keepAliveInitialDelay: KEEPALIVE_MS, noDelay: true },
    (socket) => {
      // The longest one makes room, so that strangers do not keep out clients that have the token.
      const [longest] = strangers.keys();
      if (strangers.size >= MOST_STRANGERS) longest?.destroy();
      ours.add(socket);
      strangers.set(
        socket,
        setTimeout(() => socket.destroy(), SHOW_WITHIN_MS),
      );
      socket.once("close", () => forget(socket));
      onConnection(socket);
    },
  );
  server.maxConnections = MOST_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(cannotListen(error, host, port)));
    server.listen({ host, port }, resolve);
  });
  const { address, port: actual } = server.address() as AddressInfo;
  return {
    address: `${host.includes(":") ? `[${host}]` : host}:${actual}`,
    isLoopback: /^127\.|^::1$/.test(address),
    tokenFor: (socket) => (ours.has(socket) ? token : null),
    welcome: forget,
    close: () => server.close(),
  };
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program listens there",
  EADDRNOTAVAIL: "this computer has no such address",
  ENOTFOUND: "no computer has that name",
  EACCES: "ports below 1024 are for root",
};

function cannotListen(cause: NodeJS.ErrnoException, host: string, port: number): UserError {
  return new UserError(`--listen ${host}:${port}: ${REASONS[cause.code ?? ""] ?? cause.message}`, {
    hint: `for example --listen 127.0.0.1:7500 for this computer alone, or --listen 0.0.0.0:7500`,
    cause,
  });
}
