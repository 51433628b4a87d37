// The machines of a round: each is a throwaway sshd behind a relay, with its own account, ledger and breakable tools.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { chmod, chown, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sweep } from "../rig/ledger.js";
import { descendantsOf } from "../rig/processes.js";
import { type Relay, startRelay } from "../rig/relay.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { makeWorkspace } from "../rig/workspace.js";
import { standIn, TOOLS, type Tool, TRIAL } from "./stand-ins.js";

export interface Machine {
  readonly name: string;
  readonly host: TestHost;
  readonly relay: Relay;
  /** Null if the account is that of this process: then a limit would affect more than the machine. */
  readonly uid: number | null;
  /** The lines that jobs wrote so far. */
  readLedger(): string;
  /** Each token takes effect in one call of a tool; see `standIn`. */
  putToken(tool: Tool, token: string): void;
  slowDown(tool: "rm" | "mv"): void;
  /** How many more processes its account may have from now on. */
  limitProcesses(spare: number): void;
  liftLimit(): void;
  /** From now on no tool fails, is slow or lacks processes. */
  calm(): void;
  /** Restores the state before the first round. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

const NAMES = ["one", "two", "three"];
const FIRST_UID = 61_001;

/** A limit of processes counts per account, and never for root: so each machine has its own plain account. */
const AS_ACCOUNT = `#!/bin/sh
[ "$(id -u)" = 0 ] || exec sh "$@"
exec setpriv --reuid "$TRIAL_UID" --regid "$TRIAL_UID" --clear-groups sh "$@"
`;

export async function startMachines(): Promise<{ machines: Machine[]; stop: () => Promise<void> }> {
  const shells = await makeWorkspace({ "as-account": AS_ACCOUNT });
  await chmod(shells.dir, 0o755);
  const machines = await Promise.all(
    NAMES.map((name, index) => startMachine(name, FIRST_UID + index, shells.path("as-account"))),
  );
  return {
    machines,
    stop: async () => {
      await Promise.all(machines.map((machine) => machine.stop()));
      await shells.remove();
    },
  };
}

async function startMachine(name: string, ownUid: number, loginShell: string): Promise<Machine> {
  const host = await startSshd({ name, loginShell, env: { TRIAL_UID: String(ownUid) } });
  const uid = uidOf(host, ownUid);
  const relay = await startRelay(host.port);
  const [faults, ledger] = [join(host.homeDir, "faults"), join(host.homeDir, "ledger")];
  await furnish(host, uid);
  const calm = () => {
    for (const tool of TOOLS) {
      emptyDirectory(join(faults, tool), uid);
      rmSync(`${faults}/${tool}.slow`, { force: true });
    }
    relay.accept();
    limitProcesses(host, uid, "most");
  };
  return {
    name: `${name}.yaml`,
    host,
    relay,
    uid,
    calm,
    readLedger: () => (existsSync(ledger) ? readFileSync(ledger, "utf8") : ""),
    putToken: (tool, token) => writeFileSync(join(faults, tool, token), ""),
    slowDown: (tool) => writeFileSync(`${faults}/${tool}.slow`, ""),
    limitProcesses: (spare) => limitProcesses(host, uid, countProcesses(uid) + spare),
    liftLimit: () => limitProcesses(host, uid, "most"),
    async reset() {
      calm();
      await sweep(host);
      await Promise.all([rm(ledger, { force: true }), rm(join(faults, "used"), { force: true })]);
    },
    async stop() {
      await relay.stop();
      await host.stop();
    },
  };
}

/** The rig may already have given the home to a plain account. */
function uidOf({ homeDir }: TestHost, ownUid: number): number | null {
  const [owner, self] = [statSync(homeDir).uid, process.getuid?.()];
  if (owner !== self) return owner;
  return self === 0 ? ownUid : null;
}

async function furnish(host: TestHost, uid: number | null): Promise<void> {
  await writeFile(join(host.binDir, "trial"), TRIAL, { mode: 0o755 });
  for (const tool of TOOLS)
    await writeFile(join(host.binDir, tool), standIn(tool, pathOf(tool)), { mode: 0o755 });
  await mkdir(join(host.homeDir, "faults"));
  if (uid === null) return;
  await chmod(host.dir, 0o711);
  for (const dir of [host.homeDir, join(host.homeDir, "faults")]) await chown(dir, uid, uid);
}

function pathOf(tool: Tool): string {
  return execFileSync("sh", ["-c", `command -v ${tool}`], { encoding: "utf8" }).trim();
}

/** The machine's account takes the tokens, so it owns the directory. */
function emptyDirectory(dir: string, uid: number | null): void {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir);
  if (uid !== null) execFileSync("chown", [`${uid}:${uid}`, dir]);
}

/**
 * For all processes on it, and for sshd, from which later sessions inherit it. Root of a container may not change the
 * limits of other accounts, so root and the account each change those of their own processes.
 */
function limitProcesses(host: TestHost, uid: number | null, most: number | "most"): void {
  if (uid === null) return;
  const hard =
    /^Max processes +\S+ +(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? "unlimited";
  const limit = `--nproc=${most === "most" ? hard : most}:${hard}`;
  const server = Number(readFileSync(join(host.dir, "sshd.pid"), "utf8"));
  execFileSync("prlimit", ["--pid", String(server), limit]);
  const pids = [...new Set([...descendantsOf(server), ...host.pids()])].map(String);
  const words = ["sh", "-c", `for pid; do prlimit --pid "$pid" ${limit} 2>/dev/null; done; true`, "sh"];
  for (const id of ["0", String(uid)])
    execFileSync("setpriv", ["--reuid", id, "--regid", id, "--clear-groups", ...words, ...pids]);
}

/** Of an account, on the whole computer: that is what the limit counts. */
function countProcesses(uid: number | null): number {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === uid).length;
}
