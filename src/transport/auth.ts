// Which keys are offered to a machine, in which order. Never a password, never more keys than a server lets one try.

import { join } from "node:path";
import type { AnyAuthMethod, ParsedKey } from "ssh2";
import { loadAgentKeys, SomeKeysAgent } from "./agent.js";
import { ConnectError, describeAddress, type SshAddress } from "./connect-error.js";
import { type KeyFile, loadKeyFile } from "./key-file.js";
import { quoteIfNeeded } from "./quote.js";

/** sshd's MaxAuthTries. */
const MAX_KEYS = 6;
const TOO_MANY_KEYS =
  "the agent holds more keys than a server lets one try; name the right one in the machine file: ssh_key_path";
const USUAL_KEYS = ["id_ed25519", "id_ecdsa", "id_rsa"];

export interface Login {
  readonly methods: readonly AnyAuthMethod[];
  /** What is offered, for the message when all of it is refused. */
  readonly offered: string;
  /** What to do about keys that could not be offered. */
  readonly hint: string | null;
}

export interface LoginOptions {
  readonly homeDir: string;
  /** Of the ssh agent; null: there is none. */
  readonly agentSocket: string | null;
}

/** Throws a ConnectError when there is nothing to log in with. */
export async function loadLogin(address: SshAddress, options: LoginOptions): Promise<Login> {
  return address.keyPath === null
    ? loadUsualLogin(address, options)
    : loadKeyLogin(address, address.keyPath, options);
}

/** That key and no other. */
async function loadKeyLogin(address: SshAddress, path: string, options: LoginOptions): Promise<Login> {
  const { username } = address;
  const file = await loadKeyFile(path);
  if (file.kind === "usable") {
    return {
      methods: [{ type: "publickey", username, key: file.key }],
      offered: `the key ${path}`,
      hint: null,
    };
  }
  if (file.kind !== "needs-agent") throw badKeyFile(address, file);
  const agent = await loadAgent(options.agentSocket);
  const keys = agent.keys.filter((key) => file.publicKey === null || isSame(key, file.publicKey));
  if (keys.length === 0) throw lockedKeyFile(address, file, agent);
  const method = agent.offer(username, keys.slice(0, MAX_KEYS));
  return { methods: [method], offered: `the key ${path} (by the agent)`, hint: null };
}

/** The agent's keys, then the usual files that the agent does not hold already. */
async function loadUsualLogin(address: SshAddress, { homeDir, agentSocket }: LoginOptions): Promise<Login> {
  const { username } = address;
  const paths = USUAL_KEYS.map((name) => join(homeDir, ".ssh", name));
  const [agent, ...files] = await Promise.all([loadAgent(agentSocket), ...paths.map(loadKeyFile)]);
  const own = files
    .filter((file) => file.kind === "usable")
    .filter(({ key }) => !agent.holds(key.getPublicSSH()));
  const locked = files
    .filter((file) => file.kind === "needs-agent")
    .find(({ publicKey }) => !agent.holds(publicKey));
  const fromAgent = agent.keys.slice(0, own.length > 0 ? MAX_KEYS - 1 : MAX_KEYS);
  const fromFiles = own.slice(0, MAX_KEYS - fromAgent.length);
  if (fromAgent.length + fromFiles.length === 0) {
    throw locked === undefined ? noKey(address) : lockedKeyFile(address, locked, agent);
  }
  const methods: AnyAuthMethod[] = fromFiles.map(({ key }) => ({ type: "publickey", username, key }));
  if (fromAgent.length > 0) methods.unshift(agent.offer(username, fromAgent));
  const offered = [...describeKeys(fromAgent.length), ...fromFiles.map(({ path }) => path)].join(", ");
  const left = agent.keys.length > fromAgent.length ? TOO_MANY_KEYS : null;
  return { methods, offered, hint: locked === undefined ? left : addToAgent(locked.path) };
}

interface Agent {
  readonly keys: readonly ParsedKey[];
  /** Null: a key of which the public half is not known. */
  holds(publicKey: Buffer | null): boolean;
  offer(username: string, keys: readonly ParsedKey[]): AnyAuthMethod;
  readonly isThere: boolean;
}

async function loadAgent(socket: string | null): Promise<Agent> {
  const keys = socket === null ? [] : await loadAgentKeys(socket);
  return {
    keys,
    holds: (publicKey) => publicKey !== null && keys.some((key) => isSame(key, publicKey)),
    offer: (username, some) => ({ type: "agent", username, agent: new SomeKeysAgent(socket ?? "", some) }),
    isThere: socket !== null,
  };
}

function isSame(key: ParsedKey, publicKey: Buffer): boolean {
  return key.getPublicSSH().equals(publicKey);
}

function describeKeys(count: number): string[] {
  if (count === 0) return [];
  return [count === 1 ? "the agent's key" : `${count} keys of the agent`];
}

function addToAgent(path: string): string {
  return `ssh-add ${quoteIfNeeded(path)}`;
}

function noKey(address: SshAddress): ConnectError {
  const message = `${describeAddress(address)}: there is no key to log in with, neither in ~/.ssh nor in an agent`;
  return new ConnectError("auth", message, {
    hint: "name one in the machine file, ssh_key_path: ~/.ssh/my_key, or make one: ssh-keygen -t ed25519",
  });
}

function lockedKeyFile(
  address: SshAddress,
  { path, why }: KeyFile & { kind: "needs-agent" },
  agent: Agent,
): ConnectError {
  const state = agent.isThere ? "the agent does not hold it" : "there is no agent";
  const message = `${describeAddress(address)}: the key ${path} ${why}, and ${state}`;
  const start = agent.isThere ? "" : 'eval "$(ssh-agent)"; ';
  return new ConnectError("key-file", message, { hint: start + addToAgent(path.replace(/\.pub$/, "")) });
}

function badKeyFile(address: SshAddress, file: KeyFile & { kind: "missing" | "unreadable" }): ConnectError {
  const where = describeAddress(address);
  if (file.kind === "missing") {
    return new ConnectError("key-file", `${where}: there is no key file ${file.path}`, {
      hint: "correct ssh_key_path in the machine file",
    });
  }
  return new ConnectError("key-file", `${where}: cannot use the key ${file.path}: ${file.reason}`, {
    hint: `rewrite it in OpenSSH's format: ssh-keygen -p -f ${quoteIfNeeded(file.path)}`,
  });
}
