// A claim of a slot that no test runs: its file, and a process that has its lock.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod } from "node:fs/promises";
import { until } from "../../rig/until.js";
import { HOST, type Home, liveLine } from "./a-spool.js";

/** Below the directory for claims, which is the home in tests of slots. */
export function claimDir(uid = process.getuid?.() ?? 0): string {
  return `.sshoal-claims-${uid}`;
}

interface HeldClaim {
  readonly batch: string;
  /** The first line, then those about cards and resources. */
  readonly lines: readonly string[];
}

/** The claim counts until `end` is called. Where there is no flock, the spool names a live loop. */
export async function holdClaim(
  home: Home,
  { batch, lines: [first = "", ...lines] }: HeldClaim,
): Promise<{ child: ChildProcess; end: () => Promise<void> }> {
  const file = `${claimDir()}/${batch}@${HOST}.0`;
  await home.write(file, "");
  await chmod(home.path(claimDir()), 0o755);
  const child = spawn("flock", ["-s", home.path(file), "/bin/sleep", "600"], {
    stdio: "ignore",
    detached: true,
  });
  const ended = once(child, "close");
  await until("the claim is locked", () => isLocked(home.path(file)));
  await home.write(file, [first, `by ${batch} 7 ${child.pid}`, ...lines, "end", ""].join("\n"));
  await home.write(`.sshoal/batches/${batch}@${HOST}/needs/-`, "");
  await home.write(`.sshoal/batches/${batch}@${HOST}/slots/0/loop`, liveLine(child.pid as number));
  return {
    child,
    async end() {
      process.kill(-(child.pid as number), "SIGKILL");
      await ended;
    },
  };
}

/** As slots find out whether a claim is alive. */
export function isLocked(path: string): boolean {
  try {
    execFileSync("flock", ["-n", path, "true"], { stdio: "ignore" });
    return false;
  } catch {
    return true;
  }
}
