// Makes a Session over ssh from an address: reads the configuration, finds the jump hosts, and chooses the transport.

import { type Choice, choose } from "./choose.js";
import type { SshConfig } from "./config/ssh-config.js";
import { describeTarget } from "./config/target.js";
import { ConnectError, type SshAddress } from "./connect-error.js";
import type { ConnectOptions } from "./connect-options.js";
import { Gate } from "./gate.js";
import { loginNeedsOpenssh } from "./login/auth.js";
import { KeyRing } from "./login/key-ring.js";
import type { OpensshSession } from "./openssh/openssh-session.js";
import type { Session } from "./session.js";
import { connectSsh2 } from "./ssh2/ssh2.js";
import type { Ssh2Session } from "./ssh2/ssh2-session.js";
import { Travel } from "./travel.js";
import { hostNeedsOpenssh } from "./trust/known-hosts-file.js";
import { findWay, stopsOf, type Way } from "./way.js";

export type ConnectSsh = (address: SshAddress, signal?: AbortSignal) => Promise<Session>;

export function createConnectSsh(options: ConnectOptions, config: SshConfig): ConnectSsh {
  const { ssh2, openssh } = createTravels(options);
  /** Machines that only the system's ssh can reach, each with the reason. */
  const lessons = new Map<string, string>();
  return async (address, signal) => {
    const way = await findWay(address, config.resolve, signal);
    const name = JSON.stringify(address);
    const lesson = lessons.get(name);
    const { transport, why } =
      lesson === undefined ? await chooseFor(address, way, options) : { transport: "openssh", why: lesson };
    if (transport === "openssh") {
      if (!(await config.hasSsh())) throw noSsh(way, why);
      return openssh.to(way, why, signal);
    }
    try {
      return await ssh2.to(way, why, signal);
    } catch (error) {
      const newLesson =
        address.transport === null && error instanceof ConnectError ? error.opensshReason : null;
      if (newLesson === null || !(await config.hasSsh())) throw error;
      lessons.set(name, newLesson);
      return openssh.to(way, newLesson, signal);
    }
  };
}

function createTravels(options: ConnectOptions) {
  const gate = new Gate();
  const keys = new KeyRing();
  const ssh2 = new Travel<Ssh2Session>(gate, ({ target, ...leg }, signal) =>
    connectSsh2(target, { ...options, ...leg, keys }, signal),
  );
  const openssh = new Travel<OpensshSession>(gate, async ({ target, ...leg }, signal) => {
    const { connectOpenssh } = await import("./openssh/openssh.js");
    return connectOpenssh(target, { ...options, ...leg }, signal);
  });
  return { ssh2, openssh };
}

async function chooseFor({ transport }: SshAddress, way: Way, options: ConnectOptions): Promise<Choice> {
  if (transport !== null) return choose(transport, []);
  const stops = stopsOf(way).map(async (target) => {
    const found = await Promise.all([loginNeedsOpenssh(target, options), hostNeedsOpenssh(target)]);
    return { alias: target.alias, reasons: [...target.needsOpenssh, ...found.flat()] };
  });
  return choose(null, await Promise.all(stops));
}

function noSsh({ target }: Way, why: string | null): ConnectError {
  return new ConnectError(
    "config",
    `${describeTarget(target)}: needs an ssh program on this computer, because ${why}`,
    {
      hint: "install it: apt install openssh-client, or dnf install openssh-clients",
    },
  );
}
