// Several computers for tests of `grass`: homes of their own on a network of their own, which has the addresses and names of
// the tool's documentation. Only root can make such a network.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { hostname } from "node:os";
import { afterEach, beforeEach } from "vitest";
import { remoteAccount } from "./account.js";
import { makeBin, notesIn, type Typed, typing } from "./grass.js";
import { installed } from "./installed.js";
import { makeHome } from "./own-home.js";
import { killAll, pidsWithHome } from "./processes.js";
import { until } from "./until.js";
import type { Workspace } from "./workspace.js";

interface GrassNode extends Typed {
  readonly home: Workspace;
  notes(): Promise<string[]>;
  /** Of the service that runs there. */
  token(): string;
}

export interface GrassNodes {
  /** A new computer of this account, or of the plain one. */
  node(account: "root" | "plain", programs?: readonly string[]): Promise<GrassNode>;
}

/** Call it at the top of a test file. `address`: of all computers, with this name. */
export function useGrassNodes(address: string, name: string): GrassNodes {
  const homes: Workspace[] = [];
  let network: ChildProcess;
  beforeEach(async () => {
    const script = [
      "set -e",
      "ip link set lo up",
      `ip addr add ${address}/32 dev lo`,
      "hosts=$(mktemp)",
      `{ cat /etc/hosts; echo '${address} ${name}'; } > $hosts`,
      "chmod 644 $hosts",
      "mount --bind $hosts /etc/hosts",
      "rm $hosts",
      "echo ready",
      "cat",
    ].join("\n");
    network = spawn("unshare", ["-n", "-m", "sh", "-c", script], { stdio: ["pipe", "pipe", "inherit"] });
    let said = "";
    network.stdout?.on("data", (chunk) => (said += chunk));
    await until("the network is there", () => said.includes("ready"));
  });
  afterEach(async () => {
    for (const home of homes.splice(0)) {
      await until("all processes of the computer have ended", () => {
        const pids = pidsWithHome(home.dir);
        killAll(pids);
        return pids.length === 0;
      });
      await home.remove();
    }
    network.stdin?.end();
  });
  return {
    async node(account, programs = []) {
      const home = await makeHome();
      homes.push(home);
      const isPlain = account === "plain";
      const { uid, gid } = remoteAccount();
      const become = ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--"];
      makeBin(home.path("bin"), programs, isPlain ? installed() : undefined);
      await Promise.all([mkdir(home.path("runtime"), { mode: 0o700 }), mkdir(home.path("work"))]);
      if (isPlain) execFileSync("chown", ["-R", `${uid}:${gid}`, home.dir]);
      const note = `${home.dir}/.local/state/sshoal/service@${hostname().replace(/[^\w.-]/g, "_")}`;
      const inside = ["nsenter", "-t", `${network.pid}`, "-n", "-m", `--wd=${home.path("work")}`, "--"];
      return {
        home,
        notes: () => notesIn(home),
        token: () => readFileSync(`${note}/token`, "utf8").trim(),
        ...typing({
          homeDir: home.dir,
          cwd: home.path("work"),
          env: { XDG_RUNTIME_DIR: home.path("runtime") },
          through: isPlain ? [...inside, ...become] : inside,
        }),
      };
    },
  };
}
