// Puts spools and records of older versions (test/spools) onto a host, with the loop of that version running.

import { execFileSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runScript } from "../../src/transport/script/run-script.js";
import { isRoot, remoteAccount } from "./account.js";
import { addressOf, connectFrom } from "./connect.js";
import type { TestHost } from "./sshd.js";
import { until } from "./until.js";
import { makeWorkspace, type Workspace } from "./workspace.js";

/** Versions with another spool format: "before-0.2" is the last state before formats had numbers. */
export const OLDER_VERSIONS = ["0.1.0", "before-0.2", "0.2.0", "0.3.0"] as const;

/** Versions with the spool format of today. */
export const RECENT_VERSIONS = ["0.4.0", "0.5.0", "0.6.0"] as const;

export const OLDER_BATCH = "jobs.sh-01234567";

export interface OlderBatch {
  /** The working directory, with `jobs.sh` and the record of the older client. */
  readonly work: Workspace;
  /** Jobs wait for the file `go` in it. */
  readonly gate: Workspace;
  /** The numbers of the jobs that have begun, in order. */
  ran(): Promise<string[]>;
}

/** Four jobs were handed over to one slot of the host, and the first one runs. */
export async function startOlderBatch(
  version: (typeof OLDER_VERSIONS)[number] | (typeof RECENT_VERSIONS)[number],
  host: TestHost,
): Promise<OlderBatch> {
  const [work, gate] = await Promise.all([makeWorkspace(), makeWorkspace()]);
  const tokens = {
    GATE: gate.dir,
    PORT: String(host.port),
    USER: host.username,
    KEY: host.keyPath,
    FILE: await host.machineFile("max_jobs: 1"),
  };
  const fill = (text: string) =>
    text.replace(/@([A-Z]+)@/g, (whole, name: string) => tokens[name as keyof typeof tokens] ?? whole);
  const from = fileURLToPath(new URL(`../spools/${version}/`, import.meta.url));
  const read = (path: string) => fill(readFileSync(join(from, path), "utf8"));
  await work.write("jobs.sh", read("jobs.sh"));
  await work.write("job_results/.sshoal/jobs.sh.jsonl", read("record.jsonl"));

  const root = join(host.homeDir, ".sshoal");
  const spool = join(root, "batches", `${OLDER_BATCH}@${hostname()}`);
  const paths = readdirSync(join(from, "spool"), { recursive: true, encoding: "utf8", withFileTypes: true });
  for (const entry of paths.filter((each) => each.isFile())) {
    const path = join(entry.parentPath, entry.name).slice(join(from, "spool/").length);
    put(join(spool, path), read(join("spool", path)));
    // 0.1.0 handed over a directory per job.
    if (entry.name === "tree") mkdirSync(join(dirname(join(spool, path)), "work"));
  }
  // Format 1 had one log for all.
  if (!existsSync(join(spool, "format"))) put(join(spool, "events"), "");
  put(join(root, "trees", read("spool/trees").trim(), "jobs.sh"), read("jobs.sh"));
  execFileSync("chmod", ["-R", "go=", root]);
  if (isRoot) giveAll(root);
  await startLoop(host, spool);
  const ran = async () =>
    (await gate.read("ran.log").catch(() => "")).split("\n").filter((line) => line !== "");
  await until("the first job runs", async () => (await ran()).length === 1);
  return { work, gate, ran };
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function giveAll(dir: string): void {
  const { uid, gid } = remoteAccount();
  chownSync(dir, uid, gid);
  for (const name of readdirSync(dir, { recursive: true, encoding: "utf8" }))
    chownSync(join(dir, name), uid, gid);
}

/** As each version starts one. */
async function startLoop(host: TestHost, spool: string): Promise<void> {
  const { signal } = new AbortController();
  const home = await makeWorkspace();
  const session = await connectFrom(home.dir)(addressOf(host), signal);
  const script = `cd '${spool}' && setsid sh slot.sh "$PWD" 0 </dev/null >>slots/0/log 2>&1 & echo done`;
  try {
    await runScript(session, script);
  } finally {
    await session.close();
    await home.remove();
  }
}
