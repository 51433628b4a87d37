// Turns the output of `ssh -G` into a target: expands paths, fills in defaults, and names what ssh2 cannot do.

import type { SshAddress } from "../connect-error.js";
import { findOpensshReasons } from "../openssh/openssh-reasons.js";
import { expandPath, expandTokens, type Tokens } from "./expand-path.js";
import type { Settings } from "./settings.js";
import type { HostKeyPolicy, SshTarget } from "./target.js";

const CONNECT_TIMEOUT_S = 10;
/** OpenSSH sends no keepalives by default, and would never notice a machine that went to sleep. */
const KEEPALIVE_S = 15;
const KEEPALIVE_COUNT = 3;

export function parseSettings(text: string): Settings {
  const settings = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    const [, keyword, value] = /^(\S+) (.*?)\r?$/.exec(line) ?? [];
    if (keyword === undefined || value === undefined) continue;
    const values = settings.get(keyword.toLowerCase()) ?? [];
    settings.set(keyword.toLowerCase(), [...values, value]);
  }
  return settings;
}

/** The other facts that a target depends on. */
export interface Circumstances {
  readonly address: SshAddress;
  /** The output of `ssh -G` without any configuration. */
  readonly defaults: Settings;
  readonly homeDir: string;
  /** The home that OpenSSH uses; it ignores HOME. */
  readonly accountHome: string;
  /** SSH_AUTH_SOCK. */
  readonly agentSocket: string | null;
  readonly localUser: string;
  readonly localHost: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Null: the ssh configuration decides. */
  readonly hostKeys: HostKeyPolicy | null;
}

export function formTarget(settings: Settings, circumstances: Circumstances): SshTarget {
  const { address, defaults } = circumstances;
  const value = (keyword: string) => settings.get(keyword)?.[0] ?? null;
  const tokens = readTokens(settings, circumstances);
  const expand = (path: string) => expandPath(path, tokens);
  const seconds = (keyword: string, otherwise: number) => 1000 * (Number(value(keyword)) || otherwise);
  return {
    alias: address.host,
    host: tokens.h,
    port: Number(tokens.p),
    username: tokens.r,
    hostKeyAlias: value("hostkeyalias"),
    ...readIdentities(settings, circumstances, expand),
    agentSocket: readAgent(value("identityagent"), circumstances, expand),
    proxyJump: readHops(value("proxyjump")).map((hop) => expandTokens(hop, tokens)),
    proxyCommand: orNone(value("proxycommand")),
    userKnownHosts: readFiles(value("userknownhostsfile")).map(expand),
    globalKnownHosts: readFiles(value("globalknownhostsfile")).map(expand),
    hashesKnownHosts: value("hashknownhosts") === "yes",
    hostKeys: circumstances.hostKeys ?? readPolicy(value("stricthostkeychecking")),
    addressFamily: ADDRESS_FAMILIES.get(value("addressfamily") ?? "") ?? 0,
    connectTimeoutMs: seconds("connecttimeout", CONNECT_TIMEOUT_S),
    keepaliveMs: seconds("serveraliveinterval", KEEPALIVE_S),
    keepaliveCount: Number(value("serveralivecountmax")) || KEEPALIVE_COUNT,
    configFile: address.configFile,
    needsOpenssh: findOpensshReasons(settings, defaults),
  };
}

const ADDRESS_FAMILIES: ReadonlyMap<string, 4 | 6> = new Map([
  ["inet", 4],
  ["inet6", 6],
]);

function readTokens(settings: Settings, circumstances: Circumstances): Tokens {
  const { address, homeDir, accountHome, localUser, localHost, env } = circumstances;
  const host = settings.get("hostname")?.[0] ?? address.host;
  return {
    h: host,
    n: address.host,
    k: settings.get("hostkeyalias")?.[0] ?? address.host,
    p: settings.get("port")?.[0] ?? "22",
    r: settings.get("user")?.[0] ?? localUser,
    u: localUser,
    l: localHost,
    home: homeDir,
    accountHome,
    env,
  };
}

/** If the machine file names a key, only that key is used. */
function readIdentities(
  settings: Settings,
  { address, defaults }: Circumstances,
  expand: (path: string) => string,
): Pick<SshTarget, "identityFiles" | "hasOwnIdentities" | "identitiesOnly"> {
  if (address.keyPath !== null) {
    return { identityFiles: [address.keyPath], hasOwnIdentities: true, identitiesOnly: true };
  }
  const files = settings.get("identityfile") ?? [];
  return {
    identityFiles: files.filter((file) => file !== "none").map(expand),
    hasOwnIdentities: files.join("\n") !== (defaults.get("identityfile") ?? []).join("\n"),
    identitiesOnly: settings.get("identitiesonly")?.[0] === "yes",
  };
}

function readAgent(
  said: string | null,
  { agentSocket, env }: Circumstances,
  expand: (path: string) => string,
): string | null {
  if (said === null || said === "SSH_AUTH_SOCK") return agentSocket;
  if (said === "none") return null;
  return said.startsWith("$") && !said.startsWith("${") ? (env[said.slice(1)] ?? null) : expand(said);
}

function readPolicy(said: string | null): HostKeyPolicy {
  return said === "yes" || said === "true" ? "strict" : "accept-new";
}

function readHops(said: string | null): string[] {
  return (orNone(said) ?? "").split(",").filter((hop) => hop !== "");
}

function orNone(said: string | null): string | null {
  return said === "none" ? null : said;
}

/** ssh prints them on one line without quotes, so a space separates two only if a path begins after it. */
function readFiles(said: string | null): string[] {
  return (orNone(said) ?? "").split(/ (?=[/~%$])/).filter((file) => file !== "" && file !== "none");
}
