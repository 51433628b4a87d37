// Describes where it was measured, and checks that all compared programs are installed.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { cpus, loadavg, release, tmpdir, totalmem } from "node:os";
import { basename } from "node:path";

const NEEDED = { parallel: "parallel", ssh: "openssh-client", rsync: "rsync", tar: "tar" };

/** The packages to install; empty: nothing is missing. */
export function missingPrograms(): string[] {
  const missing = Object.entries(NEEDED).filter(([program]) => spawnSync(program, ["--version"]).error);
  const packages = missing.map(([, name]) => name);
  return existsSync("/usr/sbin/sshd") ? packages : [...packages, "openssh-server"];
}

export function describeSurroundings(): string[] {
  const [cpu] = cpus();
  const load = loadavg()[0]?.toFixed(1);
  return [
    `${new Date().toISOString().slice(0, 10)}, load ${load} before it began`,
    `${cpus().length} cores (${cpu?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}`,
    `Node ${process.version}, ${firstLine("ssh", "-V")}, ${firstLine("parallel", "--version")}`,
    `machines and results on ${describeDisk(tmpdir())}`,
  ];
}

/** Without a journal, ext4 is slow to create files where many were removed within the last minutes. */
function describeDisk(dir: string): string {
  const { stdout } = spawnSync("df", ["--output=source,fstype", dir], { encoding: "utf8" });
  const [source = "", type = ""] = stdout.trimEnd().split("\n").at(-1)?.split(/\s+/) ?? [];
  const journals = existsSync("/proc/fs/jbd2") ? readdirSync("/proc/fs/jbd2") : [];
  const hasJournal = journals.some((name) => name.startsWith(basename(source)));
  return type === "ext4" && !hasJournal ? "ext4 without a journal" : type;
}

/** ssh prints its version on stderr. */
function firstLine(program: string, flag: string): string {
  const { stdout, stderr } = spawnSync(program, [flag], { encoding: "utf8" });
  return (stdout || stderr).split("\n")[0] ?? "";
}
