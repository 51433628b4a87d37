// How much may be sent to a machine without a question.

import { existsSync, truncateSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { LIGHT_NO_GPU, listTrees } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { makeHome } from "../rig/own-home.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { runOnTerminal } from "../rig/terminal.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let box: TestHost;
let other: TestHost;
let work: Workspace;
let home: Workspace;

beforeAll(async () => {
  [box, other] = await Promise.all([startSshd({ name: "box" }), startSshd({ name: "other" })]);
});
beforeEach(async () => {
  [work, home] = await Promise.all([makeWorkspace({ "jobs.sh": "wc -c < data/big\n" }), makeHome()]);
});
afterEach(() => Promise.all([work.remove(), home.remove()]));
afterAll(() => Promise.all([box?.stop(), other?.stop()]));

async function argsFor(host: TestHost, ...more: string[]): Promise<string[]> {
  return ["jobs.sh", "--machines", await host.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU, ...more];
}

async function run(host: TestHost, ...more: string[]) {
  return runCommand(await argsFor(host, ...more), { cwd: work.dir, home: home.dir });
}

test("--max-send: more than that is not sent, and the exit code is 2", async () => {
  await work.write("data/big", Buffer.alloc(3_000_000, "x"));
  const { code, stdout, stderr } = await run(box, "--max-send", "2MB");
  expect(stderr).toContain(
    "error: 4 MB would be sent to box.yaml, more than --max-send 2 MB; the largest: data/big (3 MB)\n" +
      "try: echo '/data/big' >>.sshoalignore, or --exclude\n",
  );
  expect(stdout).not.toContain("started:");
  expect(code).toBe(2);
  expect(listTrees(`${box.homeDir}/.sshoal`)).toEqual([]);
  expect(existsSync(work.path("job_results/jobs.sh.1"))).toBe(false);
});

test("--max-send counts what the machine lacks, not what it has", async () => {
  await work.write("data/big", Buffer.alloc(3_000_000, "y"));
  expect(await run(box, "--max-send", "4MB")).toMatchObject({ code: 0 });
  await work.write("small", "edited\n");
  expect(await run(box, "--max-send", "1MB", "--rerun", "all")).toMatchObject({ code: 0 });
  expect(await run(other, "--max-send", "1MB", "--rerun", "all")).toMatchObject({ code: 2 });
});

test("a size without a unit is refused", async () => {
  expect(await run(box, "--max-send", "5")).toMatchObject({
    code: 2,
    stderr: 'error: --max-send takes a size with a unit, got "5"\ntry: for example --max-send 500MB or 2GB\n',
  });
});

test("on a terminal, sending more than 1 GB needs a yes; after no, nothing is sent", async () => {
  await work.write("data/big", "");
  truncateSync(work.path("data/big"), 1_100_000_000);
  const terminal = runOnTerminal(await argsFor(box), { cwd: work.dir, home: home.dir });
  await terminal.shows(
    "1.1 GB will be sent to each machine that lacks them; the largest: data/big (1.1 GB). Send them? [y/N]",
  );
  terminal.type("n\r");
  expect(await terminal.ended).toBe(2);
  expect(terminal.shown()).toContain(
    "1.1 GB would be sent to box.yaml, and you answered no; the largest: data/big",
  );
  expect(existsSync(work.path("job_results/jobs.sh.1"))).toBe(false);
});
