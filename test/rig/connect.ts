// Connects with a temporary home, without an agent, and without a person to ask.

import { type Connect, createConnect } from "../../src/transport/connect.js";
import type { SshAddress } from "../../src/transport/connect-error.js";
import type { ConnectOptions } from "../../src/transport/connect-options.js";
import type { TestHost } from "./sshd.js";

export function connectFrom(homeDir: string, options: Partial<ConnectOptions> = {}): Connect {
  return createConnect({
    homeDir,
    agentSocket: null,
    onNote: () => {},
    hostKeys: null,
    ask: null,
    ...options,
  });
}

/** The host's own address, without a machine file. */
export function addressOf(host: TestHost, over: Partial<SshAddress> = {}): SshAddress {
  const { port, username, keyPath } = host;
  return {
    kind: "ssh",
    host: "127.0.0.1",
    port,
    username,
    keyPath,
    configFile: null,
    transport: null,
    ...over,
  };
}
