// Routes to machines: machine files for us, configurations for ssh, and host keys that both know.

import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestHost } from "../test/rig/sshd.js";
import type { Workspace } from "../test/rig/workspace.js";

/** Per machine. */
export const SLOTS = 2;

/** One route to all machines. */
export interface Route {
  readonly machineFiles: readonly string[];
  /** For `ssh -F`; its names are those of the machines. */
  readonly plainConfig: string;
  readonly sharingConfig: string;
}

export async function saveKnownHosts(
  home: Workspace,
  hosts: readonly TestHost[],
  ports: number[][],
): Promise<void> {
  const lines = hosts.map(async ({ dir }, index) => {
    const key = (await readFile(join(dir, "host_key.pub"), "utf8")).split(" ").slice(0, 2).join(" ");
    return ports.map((of) => `[127.0.0.1]:${of[index]} ${key}\n`).join("");
  });
  await home.write(".ssh/known_hosts", (await Promise.all(lines)).join(""));
}

export async function makeRoute(
  home: Workspace,
  hosts: readonly TestHost[],
  name: string,
  ports: number[],
): Promise<Route> {
  const machineFiles = await Promise.all(
    hosts.map(({ name: host, username, keyPath }, index) =>
      home.write(
        `${name}/${host}.yaml`,
        `username: ${username}\nip: 127.0.0.1\nport: ${ports[index]}\nssh_key_path: ${keyPath}\nmax_jobs: ${SLOTS}\n`,
      ),
    ),
  );
  const forEach = hosts.map(
    ({ name: host, username, keyPath }, index) =>
      `Host ${host}\n  HostName 127.0.0.1\n  Port ${ports[index]}\n  User ${username}\n  IdentityFile ${keyPath}\n`,
  );
  const forAll = `Host *\n  IdentitiesOnly yes\n  BatchMode yes\n  UserKnownHostsFile ${home.path(".ssh/known_hosts")}\n`;
  const sharing = `  ControlMaster auto\n  ControlPath ${home.path(name)}/%n.sock\n  ControlPersist 60\n`;
  const plain = forEach.join("") + forAll;
  return {
    machineFiles,
    plainConfig: await home.write(`${name}/plain.conf`, plain),
    sharingConfig: await home.write(`${name}/sharing.conf`, plain + sharing),
  };
}

/** Every round begins without a connection. */
export function endShared({ sharingConfig }: Route, name: string): void {
  try {
    execFileSync("ssh", ["-F", sharingConfig, "-O", "exit", name], { stdio: "ignore" });
  } catch {
    // There was none.
  }
}
