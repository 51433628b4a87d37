// A plain SshTarget; a test sets what matters to it.

import type { SshTarget } from "../../../src/transport/config/target.js";

export function aTarget(parts: Partial<SshTarget> = {}): SshTarget {
  return {
    alias: parts.host ?? "gpu1",
    host: "gpu1",
    port: 22,
    username: "me",
    hostKeyAlias: null,
    identityFiles: [],
    hasOwnIdentities: false,
    identitiesOnly: false,
    agentSocket: null,
    proxyJump: [],
    proxyCommand: null,
    userKnownHosts: [],
    globalKnownHosts: [],
    hashesKnownHosts: false,
    hostKeys: "accept-new",
    addressFamily: 0,
    connectTimeoutMs: 10_000,
    keepaliveMs: 15_000,
    keepaliveCount: 3,
    configFile: null,
    needsOpenssh: [],
    ...parts,
  };
}
