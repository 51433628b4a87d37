// The way to a machine: its jump hosts, each as OpenSSH would connect to it, and the machine itself.

import type { Resolve } from "./config/ssh-config.js";
import type { SshTarget } from "./config/target.js";
import { ConnectError, type SshAddress } from "./connect-error.js";

export interface Way {
  readonly target: SshTarget;
  /** The way to the jump host next to it; null: it is reached directly. */
  readonly before: Way | null;
}

export async function findWay(address: SshAddress, resolve: Resolve, signal?: AbortSignal): Promise<Way> {
  return wayTo(await resolve(address, null, signal), [], resolve, signal);
}

/** Nearest first; the last is the machine. */
export function stopsOf({ target, before }: Way): SshTarget[] {
  return before === null ? [target] : [...stopsOf(before), target];
}

/** More hops than any real route: the configuration generates new names without end. */
const MAX_HOPS = 16;

async function wayTo(
  target: SshTarget,
  behind: readonly SshTarget[],
  resolve: Resolve,
  signal: AbortSignal | undefined,
): Promise<Way> {
  if (target.proxyJump.length === 0) return { target, before: null };
  const { address, jump } = nextHop(target);
  const hop = await resolve(address, jump, signal);
  const seen = [...behind, target];
  if (seen.length > MAX_HOPS || seen.some((stop) => isSame(stop, hop))) throw inCircles([...seen, hop]);
  return { target, before: await wayTo(hop, seen, resolve, signal) };
}

/** The last host of `-J a,b` is reached through the others; only the first uses its own jump hosts, if it has any. */
function nextHop(target: SshTarget): { address: SshAddress; jump: string | null } {
  const written = target.proxyJump.at(-1) ?? "";
  const others = target.proxyJump.slice(0, -1).join(",");
  return { address: parseHop(written, target), jump: others === "" ? null : others };
}

/** `[user@]host[:port]` or `ssh://[user@]host[:port]`. */
function parseHop(written: string, { alias, configFile }: SshTarget): SshAddress {
  const text = written.replace(/^ssh:\/\//, "").replace(/\/$/, "");
  const [, user, v6, name, port] = /^(?:(.+)@)?(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? [];
  const host = v6 ?? name;
  if (host === undefined || host.startsWith("-")) {
    throw new ConnectError("config", `${alias}: its ProxyJump names no host: ${written}`, {
      hint: "write ProxyJump user@host:port in the ssh configuration",
    });
  }
  const own = { port: port === undefined ? null : Number(port), username: user ?? null };
  return { kind: "ssh", host, ...own, keyPath: null, configFile, transport: null };
}

/** Compared by name: one host may have two names with different keys. */
function isSame(a: SshTarget, b: SshTarget): boolean {
  return a.alias === b.alias && a.port === b.port && a.username === b.username;
}

function inCircles(stops: readonly SshTarget[]): ConnectError {
  const names = stops.map(({ alias }) => alias);
  return new ConnectError("config", `${names[0]}: its jump hosts form a circle: ${names.join(", ")}`, {
    hint: `write ProxyJump none for ${names.at(-1)} in the ssh configuration`,
  });
}
