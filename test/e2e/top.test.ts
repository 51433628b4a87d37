// sshoal top: cards, cores and memory of machines, live on a terminal and once in a pipe.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { isRoot, remoteAccount } from "../rig/account.js";
import { runCommand } from "../rig/command.js";
import { entriesBelow } from "../rig/entries-below.js";
import { STAND_IN_BIN, type StandInState, saveGpus } from "../rig/gpus.js";
import { commandOf, pidsWithHome } from "../rig/processes.js";
import { type Relay, startRelay } from "../rig/relay.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { type OnTerminal, runOnTerminal } from "../rig/terminal.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: TestHost;
let plain: TestHost;
let relay: Relay;
let work: Workspace;
/** The directory of all accounts' claims on the machine with cards. */
let claims: Workspace;

beforeAll(async () => {
  claims = await makeWorkspace();
  [host, plain] = await Promise.all([
    startSshd({ name: "gpu", path: [STAND_IN_BIN], env: { SSHOAL_CLAIMS: claims.dir } }),
    startSshd({ name: "cpu" }),
  ]);
  relay = await startRelay(host.port);
});
beforeEach(async () => {
  work = await makeWorkspace();
});
afterEach(() => work.remove());
afterAll(async () => {
  await relay.stop();
  await Promise.all([host.stop(), plain.stop(), claims.remove()]);
});

function cards(gpus: StandInState["gpus"]): void {
  saveGpus(join(host.homeDir, "nvidia-smi.state"), { gpus });
}

const UNICODE = { LANG: "C.UTF-8", NO_COLOR: "1" };

function onTerminal(machines: readonly string[]): OnTerminal {
  return runOnTerminal(["top", "--machines", ...machines], {
    program: "sshoal",
    cwd: work.dir,
    home: work.dir,
    env: UNICODE,
    afterwards: "code=$?; stty -a | grep -o ' echo ' | sed 's/.*/echo is on/'; exit $code",
  });
}

/** The table that is shown now. */
function tableOf(terminal: OnTerminal): string[] {
  const lines = terminal.lines();
  return lines.slice(lines.findLastIndex((line) => line.startsWith("MACHINE")));
}

test("in a pipe: once, with whole rows, and nothing is left on the machines", async () => {
  cards([
    {
      memoryFree: 14_540,
      utilization: 63,
      processes: [{ pid: process.pid, memory: 9800, name: "/opt/python" }],
    },
    { name: "NVIDIA A100-SXM4-40GB", memoryTotal: 40_960, memoryFree: 40_960 },
  ]);
  const owner = execFileSync("id", ["-un"], { encoding: "utf8" }).trim();
  const bad = await work.write("bad.yaml", "ip: 127.0.0.1\nport: 1\nssh_key_path: key\n");
  await work.write("key", "");
  const args = ["top", "--machines", await host.machineFile(), await plain.machineFile(), bad];
  const { code, stdout } = await runCommand(args, { program: "sshoal", cwd: work.dir });
  const [headings, ...rows] = stdout.split("\n");
  expect(headings).toBe("MACHINE  CARD        MEMORY GB              USE  WHO");
  expect(rows[0]).toMatch(new RegExp(`^gpu.yaml 0 RTX 3090     9.8/24 %%%%::::::   63%  ${owner} \\S`));
  expect(rows[1]).toBe("         1 A100         0.0/40 ::::::::::    0%");
  expect(rows[2]).toMatch(/^ {9}[\d.]+ cores +[\d.]+\/[\d.]+ [%:]{10} +\d+%$/);
  expect(rows[3]).toMatch(/^cpu.yaml [\d.]+ cores +[\d.]+\/[\d.]+ [%:]{10} +\d+%$/);
  expect(rows[4]).toMatch(/^bad.yaml unreachable: /);
  expect(code).toBe(0);
  expect(entriesBelow(plain.homeDir)).toEqual([]);
});

test("--json prints the objects of probe; no reachable machine is exit code 3", async () => {
  cards([{}]);
  const options = { program: "sshoal", cwd: work.dir } as const;
  const { stdout } = await runCommand(["top", "--json", "--machines", await host.machineFile()], options);
  expect(JSON.parse(stdout)).toMatchObject({
    v: 1,
    machine: "gpu.yaml",
    kind: "probed",
    capacity: { gpus: [{ memoryFreeMb: 24268, holders: [] }] },
  });
  await work.write("bad.yaml", "ip: 127.0.0.1\nport: 1\nssh_key_path: bad.yaml\n");
  const failed = await runCommand(["top", "--json", "--machines", "bad.yaml"], options);
  expect(failed.code).toBe(3);
  expect(JSON.parse(failed.stdout)).toMatchObject({ kind: "failed", machine: "bad.yaml" });
});

test.runIf(isRoot)("jobs of two accounts by their claims, whatever else is planted there", async () => {
  const uuid = (index: number) => `GPU-00000000-0000-0000-0000-${String(index).padStart(12, "0")}`;
  const { uid, name } = remoteAccount();
  const [mine, others] = [`.sshoal-claims-${uid}`, ".sshoal-claims-0"];
  const text = (job: string, card: number) =>
    `100 1 1000 0.75 1 0 ${uuid(card)}\nby train.sh-0a1b2c3d ${job} 999999\non ${uuid(card)} 1000 750 1000\nend\n`;
  const files = {
    [`${mine}/train.sh-0a1b2c3d@gpu.0`]: text("14", 0),
    [`${others}/train.sh-0a1b2c3d@gpu.0`]: text("3", 1),
    [`${others}/light.sh@gpu.1`]: "100 1 0 0 0 0 -\nby light.sh 7 999998\nend\n",
    [`${others}/garbage@gpu.2`]: "\u001b[2J\u0000 rm -rf / $(reboot)\nend\n",
    [`${others}/unlocked@gpu.3`]: text("66", 0),
    [`${others}/huge@gpu.4`]: "x".repeat(100_000),
  };
  for (const [path, content] of Object.entries(files)) await claims.write(path, content);
  chownSync(claims.path(others), 0, 0);
  symlinkSync(claims.path(`${mine}/train.sh-0a1b2c3d@gpu.0`), claims.path(`${others}/link@gpu.5`));
  execFileSync("mkfifo", [claims.path(`${others}/pipe@gpu.6`)]);
  chmodSync(claims.path(others), 0o755);
  const locked = Object.keys(files).filter((path) => !path.includes("unlocked"));
  const holders = locked.map((path) =>
    spawn("flock", [claims.path(path), "sleep", "1000"], { detached: true, stdio: "ignore" }),
  );
  onTestFinished(() => holders.forEach(({ pid }) => void process.kill(-(pid ?? 0), "SIGKILL")));
  await until("all are locked", () =>
    locked.every((path) => spawnSync("flock", ["-n", claims.path(path), "true"]).status === 1),
  );
  cards([{}, {}]);
  const options = { program: "sshoal", cwd: work.dir } as const;
  const machine = await host.machineFile();
  const { stdout } = await runCommand(["top", "--machines", machine], options);
  expect(stdout.split("\n").map((line) => line.slice(48))).toEqual([
    " WHO",
    " train.sh 14",
    " root train.sh 3",
    " root light.sh 7",
    "",
  ]);
  const { stdout: json } = await runCommand(["top", "--json", "--machines", machine], options);
  expect(JSON.parse(json).capacity).toMatchObject({ account: name, claims: { length: 3 } });
});

test("on a terminal: changes are shown over one connection, keys sort, and a lost machine is tried again", async () => {
  cards([{ memoryFree: 24_576 }, { memoryFree: 14_336 }]);
  const logins = () => host.log().match(/Accepted publickey/g)?.length ?? 0;
  const before = logins();
  const terminal = onTerminal([await host.machineFile("", relay)]);
  await terminal.shows(/gpu\.yaml 0 RTX 3090 +0\.0\/24 ░{10} +0%/);
  await terminal.shows("m memory · u use · w who · q leave");
  cards([{ memoryFree: 4096, utilization: 88 }, { memoryFree: 14_336 }]);
  await terminal.shows(/0 RTX 3090 +20\.0\/24 ▒{8}░░ +88%/);
  expect(logins() - before).toBe(1);
  cards([{ memoryFree: 24_576 }, { memoryFree: 4096 }]);
  await until("the second card is used", () => tableOf(terminal)[2]?.includes("20.0/24"));
  terminal.type("m");
  await until("the fullest card is first", () => tableOf(terminal)[1]?.includes("20.0/24"));
  await terminal.shows("by memory · m machines · u use · w who · q leave");
  relay.refuse();
  relay.cut();
  await terminal.shows(/gpu\.yaml unreachable for \d+s, trying again: /);
  relay.accept();
  await until("it is back", () => tableOf(terminal)[1]?.includes("20.0/24"));
  terminal.type("q");
  expect(await terminal.ended).toBe(0);
  expect(stripVTControlCharacters(terminal.shown())).toMatch(/echo is on/);
  expect(terminal.lines().join("\n")).not.toContain("q leave");
});

test("Ctrl-C leaves the terminal as it was", async () => {
  cards([{}]);
  const terminal = onTerminal([await host.machineFile()]);
  await terminal.shows("RTX 3090");
  terminal.type("\x03");
  expect(await terminal.ended).toBe(130);
  expect(terminal.shown()).toContain("echo is on");
});

test("SIGTERM leaves the terminal as it was", async () => {
  cards([{}]);
  const terminal = onTerminal([await host.machineFile()]);
  await terminal.shows("RTX 3090");
  const [client] = pidsWithHome(work.dir).filter((pid) => commandOf(pid).startsWith(process.execPath));
  process.kill(client ?? 0, "SIGTERM");
  expect(await terminal.ended).toBe(130);
  expect(terminal.shown()).toContain("echo is on");
});

test("a machine whose login is refused is not asked again", async () => {
  const machine = await host.machineFile("");
  const text = readFileSync(machine, "utf8").replace(/ssh_key_path: .*/, "ssh_key_path: wrong");
  const other = await work.write("other.yaml", text);
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", work.path("wrong")]);
  const terminal = onTerminal([other, await plain.machineFile()]);
  await terminal.shows(/other\.yaml unreachable for \d+s: /);
  await terminal.shows(/cpu\.yaml +[\d.]+ cores/);
  terminal.type("q");
  expect(await terminal.ended).toBe(0);
});
