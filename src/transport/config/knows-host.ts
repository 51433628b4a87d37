// Checks whether ssh knows where a name leads, so that a mistyped name is noticed early.

import { lookup } from "node:dns/promises";
import { createSshConfig, type SshConfig } from "./ssh-config.js";
import type { SshTarget } from "./target.js";

export type KnowsHost = (host: string, configFile: string | null) => Promise<boolean>;

/** A name that no pattern of a user is meant for. */
const STRANGER = "sshoalasksaboutastranger";

export function createKnowsHost(homeDir: string): KnowsHost {
  const config = createSshConfig({ homeDir, agentSocket: null, hostKeys: null, onNote: () => {} });
  return async (host, configFile) => {
    try {
      const target = await resolve(config, host, configFile);
      const stranger = await resolve(config, STRANGER, configFile);
      return isToldApart(target, stranger) || isFoundByOthers(target) || (await canLookUp(target.host));
    } catch {
      // If ssh refuses the configuration, the connection reports it later, with its place.
      return true;
    }
  };
}

function resolve(config: SshConfig, host: string, configFile: string | null): Promise<SshTarget> {
  const unsaid = { port: null, username: null, keyPath: null, transport: null };
  return config.resolve({ kind: "ssh", host, configFile, ...unsaid }, null);
}

/** True if the configuration has something for this host that it does not have for other hosts. */
function isToldApart(target: SshTarget, stranger: SshTarget): boolean {
  const ofStranger = JSON.stringify(stranger).replaceAll(STRANGER, target.alias);
  return JSON.stringify(target).toLowerCase() !== ofStranger.toLowerCase();
}

/** The name may be known on the jump host and not on this computer. */
function isFoundByOthers({ proxyJump, proxyCommand }: SshTarget): boolean {
  return proxyJump.length > 0 || proxyCommand !== null;
}

function canLookUp(host: string): Promise<boolean> {
  return lookup(host).then(
    () => true,
    () => false,
  );
}
