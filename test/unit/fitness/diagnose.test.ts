import { expect, test } from "vitest";
import { diagnoseFailure, isFit } from "../../../src/fitness/diagnose.js";
import type { Check, Verdict } from "../../../src/model/examination.js";
import { aGpuNeed, gpus } from "../plan/a-machine.js";
import { checksOf, type Findings } from "../plan/an-examination.js";

const ONLY_SMALL = "of AMD only an integrated GPU, which is too small to compute with";
const SHARED_SLICE = { index: 0, uuid: "MIG-1", isMig: true, memoryGroup: "GPU-0/1" };
const SETUP = { setup: ["conda activate torch"] };
const NEEDS_GPU = { gpu: aGpuNeed() };

function failed(...said: string[]): NonNullable<Findings["facts"]> {
  return { setup: { kind: "failed", code: 125, said } };
}

test("a healthy machine: all checks are fine, and there is nothing to fix", () => {
  const checks = checksOf();
  expect(checks.filter(({ verdict, fix }) => verdict !== "ok" || fix !== null)).toEqual([]);
  expect(checks.map(({ check }) => check)).toEqual(
    ["reach", "host key", "login", "transport", "login shell", "sessions", "tools", "scratch", "GPUs"].concat(
      ["logout", "clock", "room"],
    ),
  );
  expect(isFit(checks)).toBe(true);
});

interface Case {
  readonly check: string;
  readonly verdict: Verdict;
  readonly says: string | RegExp;
  readonly fix?: string | RegExp;
}

const cases: [name: string, findings: Findings, expected: Case][] = [
  [
    "hops",
    { connection: { via: ["a", "b"] } },
    { check: "reach", verdict: "ok", says: "connected via a, b in 0.1 s" },
  ],
  [
    "a host key that is new",
    { connection: { isHostKeyNew: true } },
    { check: "host key", verdict: "ok", says: /^ssh-ed25519 SHA256:abc \(new: compare/ },
  ],
  [
    "the system's ssh",
    { connection: { transport: "openssh", why: "the configuration has a ProxyCommand" } },
    { check: "transport", verdict: "ok", says: /openssh.*because the configuration has a ProxyCommand/ },
  ],
  [
    "a slow start",
    { found: { startUp: { tookMs: 3100, noise: "" } } },
    {
      check: "login shell",
      verdict: "warn",
      says: /^bash takes 3\.1 s to start/,
      fix: /, begin ~\/\.bashrc with: case/,
    },
  ],
  [
    "noise, in fish",
    {
      found: { startUp: { tookMs: 1, noise: `Hi\n\n${"x".repeat(99)}` } },
      facts: { loginShell: "/usr/bin/fish" },
    },
    {
      check: "login shell",
      verdict: "warn",
      says: /^fish's start-up files print "Hi x{57}\.\.\."/,
      fix: /config\.fish/,
    },
  ],
  [
    "too few sessions",
    { found: { sessions: 2 } },
    {
      check: "sessions",
      verdict: "bad",
      says: "2 at a time on one connection, 3 are needed",
      fix: /MaxSessions 10/,
    },
  ],
  [
    "just enough sessions",
    { found: { sessions: 3 } },
    { check: "sessions", verdict: "ok", says: /^3 or more/ },
  ],
  [
    "no Linux",
    { facts: { system: "Darwin" } },
    { check: "system", verdict: "bad", says: "it runs Darwin; jobs run only on Linux", fix: /Linux/ },
  ],
  [
    "tools that are needed",
    { facts: { missingTools: ["tar", "find", "xargs", "setsid"] } },
    {
      check: "tools",
      verdict: "bad",
      says: "there is no tar, find, xargs, setsid",
      fix: "on the machine: sudo apt-get install tar findutils util-linux",
    },
  ],
  [
    "tools of a system with unknown packages",
    { facts: { missingTools: ["wc"], packageManager: null } },
    { check: "tools", verdict: "bad", says: "there is no wc", fix: "install on the machine: coreutils" },
  ],
  [
    "tools that are useful",
    { facts: { missingTools: ["bash"], packageManager: "apk" } },
    {
      check: "tools",
      verdict: "warn",
      says: "there is no bash: lines run under sh",
      fix: "on the machine: sudo apk add bash",
    },
  ],
  [
    "files that are no claims",
    { facts: { oddClaims: ["/tmp/.sshoal-claims-7/a", "b", "c", "d"] } },
    {
      check: "claims",
      verdict: "warn",
      says: "these are no claims of jobs, and are ignored: /tmp/.sshoal-claims-7/a, b, c and more",
      fix: /ls -ld/,
    },
  ],
  [
    "a container of its own",
    { facts: { hasOwnShm: true } },
    { check: "claims", verdict: "warn", says: /its own \/dev\/shm/, fix: /--ipc=host/ },
  ],
  [
    "something that hung",
    { facts: { stuckAt: "the file system of /nfs/me" } },
    {
      check: "answers",
      verdict: "bad",
      says: /^no answer while examining the file system of \/nfs\/me/,
      fix: /df/,
    },
  ],
  [
    "a directory that another account could change",
    { scratch: { unsafe: "not safe: /tmp/.sshoal belongs to another account" } },
    {
      check: "scratch",
      verdict: "bad",
      says: /^not safe: .tmp..sshoal belongs to another account$/,
      fix: /scratch: to a directory that only you can write to/,
    },
  ],
  [
    "a directory that cannot be written",
    { scratch: { unwritable: "mkdir: /data: Permission denied" } },
    {
      check: "scratch",
      verdict: "bad",
      says: /cannot be written: mkdir: .data: Permission denied$/,
      fix: /scratch:/,
    },
  ],
  [
    "space that is not known",
    { scratch: { freeKb: null } },
    { check: "scratch", verdict: "ok", says: /not known$/ },
  ],
  [
    "little space",
    { scratch: { freeKb: 900 * 1024 } },
    { check: "space", verdict: "warn", says: /^900 MB are free in \/home\/me/, fix: /sshoal clean/ },
  ],
  [
    "no space",
    { scratch: { freeKb: 100 } },
    { check: "space", verdict: "bad", says: /^0 MB are free/, fix: /sshoal clean/ },
  ],
  [
    "noexec",
    { scratch: { isNoexec: true } },
    { check: "scratch", verdict: "warn", says: /noexec/, fix: /sh \.\/train\.sh/ },
  ],
  [
    "a home on a file server",
    { scratch: { filesystem: "nfs" } },
    {
      check: "scratch",
      verdict: "warn",
      says: /on a file server \(nfs\)/,
      fix: /scratch: to a local disk/,
    },
  ],
  [
    "a memory limit that works",
    { facts: { memoryLimit: "works" } },
    { check: "memory limit", verdict: "ok", says: "--limit-memory works" },
  ],
  [
    "a memory limit that does not work",
    { facts: { memoryLimit: "there is no systemd-run" } },
    {
      check: "memory limit",
      verdict: "warn",
      says: "--limit-memory has no effect: there is no systemd-run",
      fix: "it needs systemd with control groups v2, and on the machine: loginctl enable-linger",
    },
  ],
  [
    "setup that works",
    { facts: { setup: { kind: "worked", python: "/venv/bin/python", said: ["loading modules"] } } },
    { check: "setup", verdict: "ok", says: "works; python is /venv/bin/python" },
  ],
  [
    "setup with only its last line working",
    {
      facts: {
        setup: { kind: "worked", python: null, said: ["x: module: command not found"] },
        modulesFile: "/etc/profile.d/lmod.sh",
      },
    },
    {
      check: "setup",
      verdict: "warn",
      says: /but prints: x: module: command not found$/,
      fix: "put before it in setup: . /etc/profile.d/lmod.sh",
    },
  ],
  [
    "setup that fails",
    { spec: { setup: ["export A=1", "false"] }, facts: failed() },
    {
      check: "setup",
      verdict: "bad",
      says: "fails without output (exit code 125)",
      fix: "log in to it and try: export A=1; false",
    },
  ],
  [
    "conda that is not on the PATH",
    {
      spec: SETUP,
      facts: { ...failed("conda: command not found"), condaDir: "/opt/conda" },
    },
    {
      check: "setup",
      verdict: "bad",
      says: /conda: command not found$/,
      fix: "put before it in setup: . /opt/conda/etc/profile.d/conda.sh",
    },
  ],
  [
    "conda that is not initialised",
    { spec: SETUP, facts: failed("", "CondaError: Run 'conda init' before 'conda activate'") },
    {
      check: "setup",
      verdict: "bad",
      says: /conda init/,
      fix: /^install conda on the machine, or put before it in setup: /,
    },
  ],
  [
    "a missing venv",
    {
      spec: SETUP,
      facts: failed("/home/me/venv/bin/activate: No such file or directory"),
    },
    {
      check: "setup",
      verdict: "bad",
      says: /No such file/,
      fix: "create it on the machine: python3 -m venv /home/me/venv",
    },
  ],
  [
    "setup that uses the working directory",
    {
      spec: { setup: [". venv/bin/activate"] },
      facts: failed("venv/bin/activate: No such file"),
      treeNames: ["venv"],
    },
    {
      check: "setup",
      verdict: "warn",
      says: /it uses venv of the working directory/,
      fix: "run one job to check",
    },
  ],
  [
    "setup that hangs",
    { spec: SETUP, facts: { setup: { kind: "too-long", seconds: 60 } } },
    {
      check: "setup",
      verdict: "bad",
      says: "still running after 60 s",
      fix: "log in to it and try: conda activate torch",
    },
  ],
  ["no card, none needed", {}, { check: "GPUs", verdict: "ok", says: /no NVIDIA driver.*none is needed$/ }],
  [
    "no card, one needed",
    { need: NEEDS_GPU },
    { check: "GPUs", verdict: "bad", says: /no NVIDIA driver/, fix: /--no-gpu-required/ },
  ],
  [
    "a driver that fails, no card needed",
    { capacity: { gpuProblem: "Driver/library version mismatch" } },
    { check: "GPUs", verdict: "warn", says: "Driver/library version mismatch", fix: /nvidia-smi/ },
  ],
  [
    "a driver that fails, a card needed",
    { capacity: { gpuProblem: "Driver/library version mismatch" }, need: NEEDS_GPU },
    { check: "GPUs", verdict: "bad", says: "Driver/library version mismatch", fix: /nvidia-smi/ },
  ],
  [
    "a card that is hidden",
    { capacity: { gpus: gpus({}, { unusable: "is hidden by CUDA_VISIBLE_DEVICES=0" }), gpuProblem: null } },
    {
      check: "GPUs",
      verdict: "warn",
      says: "GPU 1 is not used: it is hidden by CUDA_VISIBLE_DEVICES=0",
      fix: /start-up files/,
    },
  ],
  [
    "only unusable cards",
    { capacity: { gpus: gpus({ unusable: "needs a reset" }), gpuProblem: null }, need: NEEDS_GPU },
    { check: "GPUs", verdict: "bad", says: "0 of 1 can be used", fix: /nvidia-smi/ },
  ],
  [
    "an AMD card that hangs",
    {
      capacity: {
        gpus: gpus({}, { vendor: "amd", unusable: "fails to answer (a reboot may bring it back)" }),
        gpuProblem: null,
      },
    },
    {
      check: "GPUs",
      verdict: "warn",
      says: /^GPU 1 is not used: it fails to answer/,
      fix: /dmesg \| grep amdgpu/,
    },
  ],
  [
    "only a small integrated GPU, no card needed",
    { capacity: { gpus: [], gpuProblem: `no NVIDIA driver (no nvidia-smi), and ${ONLY_SMALL}` } },
    { check: "GPUs", verdict: "ok", says: /only an integrated GPU.*; none is needed$/ },
  ],
  [
    "an idle card that reports use",
    { capacity: { gpus: gpus({ utilization: 1, holders: [] }), gpuProblem: null } },
    {
      check: "GPUs",
      verdict: "ok",
      says: "GPU 0 reports 100 % in use, but no process is seen on it: its memory decides",
    },
  ],
  [
    "a card without memory of its own",
    { capacity: { gpus: gpus({ sharesHostMemory: true }), gpuProblem: null } },
    {
      check: "GPUs",
      verdict: "ok",
      says: "a GPU without memory of its own: --gpu-memory-required counts as memory of the machine",
    },
  ],
  [
    "MIG slices that share memory",
    { capacity: { gpus: gpus(SHARED_SLICE, { ...SHARED_SLICE, uuid: "MIG-2" }), gpuProblem: null } },
    {
      check: "GPUs",
      verdict: "ok",
      says: "MIG slices of one GPU instance share its memory, which counts once",
    },
  ],
  [
    "MIG slices",
    {
      capacity: {
        gpus: [...gpus({ unusable: "is split into MIG slices" }), ...gpus({ isMig: true, uuid: "MIG-1" })],
        gpuProblem: null,
      },
    },
    {
      check: "GPUs",
      verdict: "ok",
      says: "a MIG slice, each a separate card; a job sees only one of them",
    },
  ],
  [
    "exclusive mode",
    { capacity: { gpus: gpus({ isExclusive: true }, { isExclusive: true }), gpuProblem: null } },
    { check: "GPUs", verdict: "ok", says: /Exclusive_Process on 0, 1: one job per card/ },
  ],
  [
    "another CUDA order",
    {
      facts: { cudaOrder: "FASTEST_FIRST" },
      capacity: { gpus: gpus({}), gpuProblem: null },
      need: NEEDS_GPU,
    },
    { check: "CUDA order", verdict: "ok", says: /FASTEST_FIRST at login; jobs get PCI_BUS_ID/ },
  ],
  [
    "a machine that kills at logout",
    { found: { outlivesLogout: false }, facts: { killsProcesses: true } },
    {
      check: "logout",
      verdict: "bad",
      says: /killed when the connection ends \(KillUserProcesses=yes\)$/,
      fix: /KillExcludeUsers=root me/,
    },
  ],
  [
    "a logout test that could not run",
    { found: { outlivesLogout: null } },
    { check: "logout", verdict: "warn", says: /^could not test/, fix: /--detach/ },
  ],
  [
    "this computer, where systemd kills at logout",
    { connection: { transport: "local" }, found: { outlivesLogout: null }, facts: { killsProcesses: true } },
    { check: "logout", verdict: "warn", says: /^not tried, but systemd kills/, fix: /KillUserProcesses=no/ },
  ],
  [
    "a clock a little off",
    { facts: { clockAheadMs: -30_000 } },
    { check: "clock", verdict: "ok", says: "30 s behind this computer" },
  ],
  [
    "a clock far off",
    { facts: { clockAheadMs: 7_200_000 } },
    { check: "clock", verdict: "warn", says: /^2 h ahead of this computer/, fix: /set-ntp/ },
  ],
  [
    "no room",
    { need: { memoryMb: 1e6 } },
    {
      check: "room",
      verdict: "bad",
      says: /^none now: memory: a job needs 1000000 MB/,
      fix: "lower --memory-required, now 1000000",
    },
  ],
  [
    "no room, and no option that would help",
    { spec: { maxJobs: 0 } },
    {
      check: "room",
      verdict: "bad",
      says: "none now: its machine file has max_jobs: 0",
      fix: /another machine/,
    },
  ],
];

test.each(cases)("%s", (_, findings, { check, verdict, says, fix }) => {
  const checks = checksOf(findings);
  const found = checks.find(
    (each) => each.check === check && each.verdict === verdict && matches(each.says, says),
  );
  expect(found, JSON.stringify(checks, null, 1)).toBeDefined();
  if (fix === undefined) expect(found?.fix).toBeNull();
  else expect(matches(found?.fix ?? "", fix), found?.fix ?? "").toBe(true);
  expect(isFit(checks)).toBe(!checks.some((each) => each.verdict === "bad"));
  expectFixes(checks);
});

function matches(text: string, wanted: string | RegExp): boolean {
  return typeof wanted === "string" ? text === wanted : wanted.test(text);
}

/** Every bad check has a fix; a good one has none. */
function expectFixes(checks: readonly Check[]): void {
  for (const { verdict, fix } of checks) expect(fix === null).toBe(verdict === "ok");
}

test("a machine without a card reports that once", () => {
  const bad = checksOf({ need: NEEDS_GPU }).filter(({ verdict }) => verdict === "bad");
  expect(bad.map(({ check }) => check)).toEqual(["GPUs"]);
});

test.each([
  [". ./activate", "warn"],
  ["cd /data && source activate", "warn"],
  ["PATH=activate/bin:$PATH", "warn"],
  ["conda activate torch", "bad"],
  [". ~/activate", "bad"],
  [". /opt/activate/bin/x", "bad"],
])("setup that fails, with a file named activate in the working directory: %s is %s", (line, verdict) => {
  const checks = checksOf({ spec: { setup: [line] }, facts: failed("no"), treeNames: ["activate"] });
  expect(checks.find(({ check }) => check === "setup")).toMatchObject({ verdict });
});

test("this computer: no checks of ssh, login shell or clock", () => {
  const checks = checksOf({
    connection: { transport: "local" },
    found: { outlivesLogout: null, sessions: null },
  });
  expect(checks.map(({ check }) => check)).toEqual(["reach", "tools", "scratch", "GPUs", "room"]);
});

test("if the examination hung before the disks, they are not reported as not writable", () => {
  const checks = checksOf({
    facts: { stuckAt: "loginctl" },
    scratch: { dir: "", freeKb: null, filesystem: null },
  });
  expect(checks.filter(({ verdict }) => verdict === "bad").map(({ check }) => check)).toEqual(["answers"]);
});

test("an unreachable machine has one check", () => {
  expect(
    diagnoseFailure("reach", { reason: "a:22: nothing listens", hint: "try it yourself: ssh a" }),
  ).toEqual({
    check: "reach",
    verdict: "bad",
    says: "a:22: nothing listens",
    fix: "try it yourself: ssh a",
  });
});
