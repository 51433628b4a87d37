// A queue service with a home of its own, driven by the built command.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { hostname } from "node:os";
import path from "node:path";
import { openDatabase, type ServiceDatabase } from "../src/service/store/open-database.js";
import { takeFromRemote } from "../test/rig/account.js";
import { killAll, pidsWithHome } from "../test/rig/processes.js";
import { makeWorkspace, type Workspace } from "../test/rig/workspace.js";
import type { Rig } from "./rig.js";
import type { Contender } from "./rounds.js";

export interface QueueHome {
  readonly home: Workspace;
  /** Words of a command line with this home. */
  words(...args: string[]): string[];
  /** The same, with the file as its stdin. */
  fed(file: string, ...args: string[]): string[];
  contender(words: readonly string[]): Contender;
  /** Runs the command, and returns what it prints. */
  run(...args: string[]): string;
  /** Before the service begins. */
  fill(add: (db: ServiceDatabase) => void): Promise<void>;
  pid(): number;
  residentBytes(): number;
  /** Of all its threads. */
  cpuMs(): number;
  stop(): Promise<void>;
}

export async function makeQueueHome(rig: Rig): Promise<QueueHome> {
  const home = await makeWorkspace();
  takeFromRemote(home.dir);
  await mkdir(home.path("run"), { mode: 0o700 });
  const program = path.join(path.dirname(rig.program), "sshoal.js");
  const state = home.path(".local/state/sshoal", `service@${hostname().replace(/[^\w.-]/g, "_")}`);
  const env = ["env", `HOME=${home.dir}`, `XDG_RUNTIME_DIR=${home.path("run")}`, `TMPDIR=${home.dir}`];
  const words = (...args: string[]) => [...env, process.execPath, program, ...args];
  const run = (...args: string[]) => {
    const [command = "", ...rest] = words(...args);
    return execFileSync(command, rest, { cwd: home.dir, encoding: "utf8", maxBuffer: 1 << 28 });
  };
  const pid = () => (JSON.parse(readFileSync(`${state}.json`, "utf8")) as { pid: number }).pid;
  return {
    home,
    words,
    fed: (file, ...args) => [
      "sh",
      "-c",
      'lines=$1; shift; exec "$@" <"$lines"',
      "sh",
      file,
      ...words(...args),
    ],
    contender: (argv) => rig.command(argv, { cwd: home.dir }),
    run,
    async fill(add) {
      const db = await openDatabase(state);
      add(db);
      db.close();
    },
    pid,
    residentBytes: () =>
      1024 * Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid()}/status`, "utf8"))?.[1]),
    cpuMs: () => {
      const threads = `/proc/${pid()}/task`;
      const times = readdirSync(threads).map((id) => readFileSync(`${threads}/${id}/schedstat`, "utf8"));
      return times.reduce((sum, text) => sum + Number(text.split(" ")[0]), 0) / 1e6;
    },
    async stop() {
      run("serve", "stop");
      killAll(pidsWithHome(home.dir));
      await home.remove();
    },
  };
}
