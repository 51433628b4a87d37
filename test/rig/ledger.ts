// The ledger of a batch: its jobs note each of their runs, and an audit checks the notes afterwards. No job may be lost
// or run twice, and nothing may be left on machines.

import { existsSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { listBelow } from "./batch.js";
import { commandOf, killAll } from "./processes.js";
import type { TestHost } from "./sshd.js";
import { until } from "./until.js";
import { makeWorkspace, type Workspace } from "./workspace.js";

export interface Ledger {
  /** The working directory of the batch. */
  readonly work: Workspace;
  /** Visible to jobs on all hosts, outside every spool. */
  readonly seen: Workspace;
  /**
   * One line of `jobs.sh`: notes its run, does `what`, and leaves a result that names the job. Every second one is a
   * plain command, which a fork runs.
   */
  job(what?: string): string;
  /** Writes `jobs.sh`. */
  write(jobs: readonly string[]): Promise<void>;
  /** How often each job began, by line. */
  runs(): Promise<Map<number, number>>;
  /** The problems. Empty: every job has one correct result, ran as often as it should, and nothing is left. */
  audit(hosts: readonly TestHost[], options?: AuditOptions): Promise<string[]>;
  remove(): Promise<void>;
}

interface AuditOptions {
  /** Lines that may have run more than once because their machine went down, and how often. */
  readonly runs?: ReadonlyMap<number, number>;
  /** Names in job_results, without their `.out` and `.err`, in addition to one per job. */
  readonly besides?: readonly string[];
}

export async function openLedger(): Promise<Ledger> {
  const [work, seen] = await Promise.all([makeWorkspace(), makeWorkspace()]);
  let [count, made] = [0, 0];
  const runs = async () => {
    const lines = (await seen.read("runs").catch(() => "")).split("\n").slice(0, -1);
    const counts = new Map<number, number>();
    for (const line of lines.map((name) => Number(name.replace("jobs.sh.", ""))))
      counts.set(line, (counts.get(line) ?? 0) + 1);
    return counts;
  };
  return {
    work,
    seen,
    runs,
    job(what = ":") {
      const line = `echo $SSHOAL_JOB >> ${seen.dir}/runs; echo begun $SSHOAL_JOB; ${what}; echo made by $SSHOAL_JOB > made.txt; echo over >&2`;
      made++;
      return made % 2 === 0 && !line.includes("'") ? `bash -c '${line}'` : line;
    },
    async write(jobs) {
      count = jobs.length;
      await work.write("jobs.sh", jobs.map((job) => `${job}\n`).join(""));
    },
    async audit(hosts, options = {}) {
      const lines = Array.from({ length: count }, (_, index) => index + 1);
      return [
        ...auditRuns(await runs(), lines, options.runs ?? new Map()),
        ...(await auditResults(work.path("job_results"), lines, options.besides ?? [])),
        ...(await Promise.all(hosts.map(auditHost))).flat(),
      ];
    },
    remove: async () => {
      await Promise.all([work.remove(), seen.remove()]);
    },
  };
}

/** Cleans up for the next test, whatever this one left. */
export async function sweep(...hosts: readonly TestHost[]): Promise<void> {
  for (const host of hosts) {
    killAll(host.pids());
    await rm(join(host.homeDir, ".sshoal/batches"), { recursive: true, force: true, maxRetries: 5 });
  }
}

function auditRuns(
  runs: ReadonlyMap<number, number>,
  lines: readonly number[],
  expected: ReadonlyMap<number, number>,
): string[] {
  return lines.flatMap((line) => {
    const [times, wanted] = [runs.get(line) ?? 0, expected.get(line) ?? 1];
    return times === wanted ? [] : [`line ${line} ran ${times} times instead of ${wanted}`];
  });
}

async function auditResults(
  dir: string,
  lines: readonly number[],
  besides: readonly string[],
): Promise<string[]> {
  const names = [...lines.map((line) => `jobs.sh.${line}`), ...besides];
  const expected = [".sshoal", ...names.flatMap((name) => [name, `${name}.err`, `${name}.out`])];
  const found = existsSync(dir) ? await readdir(dir) : [];
  const contents = await Promise.all(names.map((name) => auditResult(dir, name)));
  const left = listBelow(join(dir, ".sshoal")).filter((path) => !/^jobs\.sh\.jsonl$|^incoming\/$/.test(path));
  return [
    ...expected.filter((name) => !found.includes(name)).map((name) => `missing in job_results: ${name}`),
    ...found.filter((name) => !expected.includes(name)).map((name) => `too much in job_results: ${name}`),
    ...left.map((path) => `left in job_results/.sshoal: ${path}`),
    ...contents.flat(),
  ];
}

async function auditResult(dir: string, name: string): Promise<string[]> {
  const job = name.replace(/(\.\d+)\..*$/, "$1");
  const wanted = { [`${name}/made.txt`]: `made by ${job}\n`, [`${name}.out`]: `begun ${job}\n` };
  const files = Object.entries({ ...wanted, [`${name}.err`]: "over\n" });
  const wrong = await Promise.all(
    files.map(async ([path, text]) => {
      const found = await readFile(join(dir, path), "utf8").catch(() => null);
      return found === text ? [] : [`${path} is ${JSON.stringify(found)}`];
    }),
  );
  const more = listBelow(join(dir, name)).filter((path) => path !== "made.txt");
  return [...wrong.flat(), ...more.map((path) => `${name} has ${path}`)];
}

/** A loop that waits for room checks every five seconds; then it finds that it is not needed. */
export async function auditHost(host: TestHost): Promise<string[]> {
  await until("nothing runs there", () => host.pids().length === 0).catch(() => undefined);
  const left = listBelow(join(host.homeDir, ".sshoal/batches"));
  return [
    ...host
      .pids()
      .map((pid) => `on ${host.name} there is still process ${pid}: ${commandOf(pid).replaceAll("\0", " ")}`),
    ...left.slice(0, 10).map((path) => `left on ${host.name}: batches/${path}`),
  ];
}
