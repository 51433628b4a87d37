// A machine for tests of whole batches: by ssh2, the system's ssh, or this computer without ssh, as the project says
// that runs them (vitest.config.ts).

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

/** Nothing that takes an ssh server, so that this computer will do. */
export type BatchHostOptions = Pick<SshdOptions, "name" | "path" | "env">;

/** This computer is only one. */
export const hasManyMachines = TRANSPORT !== "local";

export async function startHost(options: BatchHostOptions = {}): Promise<BatchHost> {
  return TRANSPORT === "local" ? startHere(options) : startSshd(options);
}

/** How the client must run for a machine file to mean that host, by the file's path. */
const hostsHere = new Map<
  string,
  { readonly env: Readonly<Record<string, string>>; readonly as?: Account }
>();

/** Of the host that a command line names; empty when that is reached by ssh, or is none. */
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
  // Its jobs are the client's own, so that root's client is a plain one here.
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
