// Whether ssh would know where to go for a name, so that a mistyped one is noticed before anything is done.

import { lookup } from "node:dns/promises";
import { createSshConfig, type SshConfig } from "./ssh-config.js";
import type { SshTarget } from "./target.js";

export type KnowsHost = (host: string, configFile: string | null) => Promise<boolean>;

/** No pattern that a person has thought of is about this one. */
const STRANGER = "sshoalasksaboutastranger";

export function createKnowsHost(homeDir: string): KnowsHost {
  const config = createSshConfig({ homeDir, agentSocket: null, hostKeys: null, onNote: () => {} });
  return async (host, configFile) => {
    try {
      const target = await resolve(config, host, configFile);
      const stranger = await resolve(config, STRANGER, configFile);
      return isToldApart(target, stranger) || isFoundByOthers(target) || (await canLookUp(target.host));
    } catch {
      // A configuration that ssh refuses is reported, with its place, when the machine is connected to.
      return true;
    }
  };
}

function resolve(config: SshConfig, host: string, configFile: string | null): Promise<SshTarget> {
  const unsaid = { port: null, username: null, keyPath: null, transport: null };
  return config.resolve({ kind: "ssh", host, configFile, ...unsaid }, null);
}

/** The configuration says something of this host that it does not say of any other. */
function isToldApart(target: SshTarget, stranger: SshTarget): boolean {
  const ofStranger = JSON.stringify(stranger).replaceAll(STRANGER, target.alias);
  return JSON.stringify(target).toLowerCase() !== ofStranger.toLowerCase();
}

/** Its name means something on the way there, and perhaps not here. */
function isFoundByOthers({ proxyJump, proxyCommand }: SshTarget): boolean {
  return proxyJump.length > 0 || proxyCommand !== null;
}

function canLookUp(host: string): Promise<boolean> {
  return lookup(host).then(
    () => true,
    () => false,
  );
}
