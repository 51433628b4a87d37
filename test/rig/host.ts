// A machine for tests of whole batches: by ssh2, by the system's ssh, or this computer without ssh. The test project
// decides (vitest.config.ts).

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Account, giveToRemote, isRoot, remoteAccount } from "./account.js";
import { killAll, pidsWithHome } from "./processes.js";
import { type SshdOptions, startSshd, type TestHost, TRANSPORT } from "./sshd.js";
import { makeWorkspace } from "./workspace.js";

export type BatchHost = Pick<
  TestHost,
  "name" | "dir" | "homeDir" | "binDir" | "machineFile" | "pids" | "stop"
>;

/** Options that need no ssh server, so that this computer can be the host. */
export type BatchHostOptions = Pick<SshdOptions, "name" | "path" | "env">;

/** False for this computer, which is only one machine. */
export const hasManyMachines = TRANSPORT !== "local";

export async function startHost(options: BatchHostOptions = {}): Promise<BatchHost> {
  return TRANSPORT === "local" ? startHere(options) : startSshd(options);
}

/** How the client must run so that a machine file means that host, by the file's path. */
const hostsHere = new Map<
  string,
  { readonly env: Readonly<Record<string, string>>; readonly as?: Account }
>();

/** For the host that a command line names; empty if it is reached by ssh or there is none. */
export function surroundingsFor(args: readonly string[]) {
  return args.map((arg) => hostsHere.get(arg)).find((here) => here !== undefined) ?? { env: {} };
}

async function startHere({ name = "host", path = [], env = {} }: BatchHostOptions): Promise<BatchHost> {
  const { dir, remove } = await makeWorkspace();
  const [homeDir, binDir] = [join(dir, "home"), join(dir, "bin")];
  await Promise.all([mkdir(homeDir), mkdir(binDir)]);
  giveToRemote(homeDir);
  const file = join(dir, `${name}.yaml`);
  const PATH = [binDir, ...path, process.env.PATH].join(":");
  // Its jobs belong to the client, so root's client also runs as the plain account.
  hostsHere.set(file, { env: { HOME: homeDir, PATH, ...env }, ...(isRoot && { as: remoteAccount() }) });
  return {
    name,
    dir,
    homeDir,
    binDir,
    async machineFile(extra = "") {
      await writeFile(file, `transport: local\n${extra}\n`);
      return file;
    },
    pids: () => pidsWithHome(homeDir),
    async stop() {
      killAll(pidsWithHome(homeDir));
      await remove();
    },
  };
}
