// Keeps the formats of this version as fixtures. In test/spools/<version>: a batch of four jobs that was handed over to
// one slot, with the client's record and the files on the machine. test/rig/older-spool.ts puts it onto a host again. In
// test/records/json-<version>.jsonl: the examples of what --json prints.

import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { runCommand } from "../rig/command.js";
import { entriesBelow } from "../rig/entries-below.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

/** Replaced by a directory of the test that uses the fixture. */
const GATE = "@GATE@";
/** As in the tests of upgrades. */
const SMALL = ["--no-gpu-required", "--memory-required", "10", "--num-cpus", "0.1"];

/** Resolves with the exit code. */
export async function main(): Promise<number> {
  const { version } = JSON.parse(await readFile("package.json", "utf8"));
  const into = join("test", "spools", version);
  if (existsSync(into)) {
    console.error(`error: ${into} is there already; raise the version, or remove it`);
    return 2;
  }
  const [host, work] = await Promise.all([startSshd({ name: "one" }), makeWorkspace()]);
  try {
    // Slots are not started: the spool stays as it was handed over.
    await writeFile(join(host.binDir, "setsid"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
    await handOver(host, work);
    await keep(host, work, into);
    await keepJson(join("test", "records", `json-${version}.jsonl`));
    console.log(`kept in ${into}`);
    return 0;
  } finally {
    await host.stop();
    await work.remove();
  }
}

async function handOver(host: TestHost, work: Workspace): Promise<void> {
  const jobs = [1, 2, 3, 4].map(
    (n) =>
      `echo ${n} >> ${GATE}/ran.log; while [ ! -e ${GATE}/go ]; do sleep 0.1; done; echo made by ${n} > made.txt\n`,
  );
  await work.write("jobs.sh", jobs.join(""));
  const file = await host.machineFile("max_jobs: 1");
  const args = ["jobs.sh", "--machines", file, ...SMALL, "--detach"];
  const { code, stderr } = await runCommand(args, { cwd: work.dir });
  if (code !== 0) throw new Error(`handing over ended with ${code}: ${stderr}`);
}

async function keep(host: TestHost, work: Workspace, into: string): Promise<void> {
  const batches = join(host.homeDir, ".sshoal", "batches");
  const [spool = ""] = await readdir(batches);
  const [batch = "", hostName = ""] = spool.split("@");
  await mkdir(into, { recursive: true });
  await cp(work.path("jobs.sh"), join(into, "jobs.sh"));
  await cp(work.path("job_results", ".sshoal", "jobs.sh.jsonl"), join(into, "record.jsonl"));
  // The logs of control channels have the host's name; each client makes its own.
  const isOwnLog = (path: string) => basename(path).startsWith(`events.${hostName}.`);
  await cp(join(batches, spool), join(into, "spool"), { recursive: true, filter: (path) => !isOwnLog(path) });
  for (const entry of entriesBelow(into).filter((each) => each.isFile())) {
    const path = join(entry.parentPath, entry.name);
    await writeFile(
      path,
      withTokens(await readFile(path, "utf8"), host).replaceAll(batch, "jobs.sh-01234567"),
    );
  }
}

/** Replaces everything that differs between computers by a token or a fixed word. */
function withTokens(text: string, host: TestHost): string {
  return text
    .replaceAll(join(host.dir, `${host.name}.yaml`), "@FILE@")
    .replaceAll(host.keyPath, "@KEY@")
    .replaceAll(`"port":${host.port}`, '"port":@PORT@')
    .replaceAll(`"username":"${host.username}"`, '"username":"@USER@"')
    .replaceAll(/"(hostname|identity)":"[^"]*"/g, '"$1":"box"');
}

async function keepJson(into: string): Promise<void> {
  const page = await readFile("docs/json-events.md", "utf8");
  const examples = [...page.matchAll(/^ {4}(\{"v".*)$/gm)].map(([, line]) => `${line}\n`);
  await writeFile(into, examples.join(""));
}
