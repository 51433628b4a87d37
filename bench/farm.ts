// Machines behind one jump host, each with its own sshd, all with sshd's default limits.

import { startSshd, type TestHost } from "../test/rig/sshd.js";
import { makeWorkspace } from "../test/rig/workspace.js";
import { saveKnownHosts } from "./routes.js";

export interface Farm {
  readonly names: readonly string[];
  /** The jump host. */
  readonly gate: string;
  /** For `ssh -F`; it puts the machines behind the jump host. */
  readonly config: string;
  /** Logins so far. */
  logins(): Logins;
  /** Messages of all sshds, including the jump host's, about connections that they dropped. */
  drops(): string[];
  stop(): Promise<void>;
}

interface Logins {
  readonly atGate: number;
  readonly atMachines: number;
}

const GATE = "gate";

export async function startFarm(size: number): Promise<Farm> {
  const place = await makeWorkspace();
  const hosts: TestHost[] = [];
  const stop = async () => {
    await Promise.all(hosts.map((host) => host.stop()));
    await place.remove();
  };
  try {
    const names = Array.from({ length: size }, (_, index) => `m${index + 1}`);
    for (const name of [GATE, ...names]) hosts.push(await startSshd({ name }));
    await saveKnownHosts(place, hosts, [hosts.map(({ port }) => port)]);
    const config = await place.write("config", formatConfig(hosts, place.path(".ssh/known_hosts")));
    return {
      names,
      gate: GATE,
      config,
      logins: () => countLogins(hosts),
      drops: () => findDrops(hosts),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function formatConfig(hosts: readonly TestHost[], knownHosts: string): string {
  const blocks = hosts.map(({ name, port, username, keyPath }) =>
    [
      `Host ${name}`,
      `HostName 127.0.0.1`,
      `Port ${port}`,
      `User ${username}`,
      `IdentityFile ${keyPath}`,
      ...(name === GATE ? [] : [`ProxyJump ${GATE}`]),
    ].join("\n  "),
  );
  const forAll = `Host *\n  IdentitiesOnly yes\n  BatchMode yes\n  UserKnownHostsFile ${knownHosts}\n`;
  return `${blocks.join("\n")}\n${forAll}`;
}

function countLogins(hosts: readonly TestHost[]): Logins {
  const [atGate = 0, ...others] = hosts.map((host) => host.log().match(/^Accepted publickey/gm)?.length ?? 0);
  return { atGate, atMachines: others.reduce((sum, count) => sum + count, 0) };
}

function findDrops(hosts: readonly TestHost[]): string[] {
  return hosts.flatMap((host) =>
    host
      .log()
      .split(/\r?\n/)
      .filter((line) => /MaxStartups|drop connection|Too many/i.test(line)),
  );
}
