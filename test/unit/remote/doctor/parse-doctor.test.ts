import fc from "fast-check";
import { expect, test } from "vitest";
import { parseDoctor } from "../../../../src/remote/doctor/parse-doctor.js";

const times = { askedAt: 1_000_000_000, answeredAt: 1_000_005_000 };

function facts(...lines: string[]) {
  return parseDoctor(lines, times).facts;
}

test("without any line everything is unknown, and nothing is bad", () => {
  expect(parseDoctor([], times)).toEqual({
    facts: {
      system: "",
      user: "",
      loginShell: "",
      missingTools: [],
      oddClaims: [],
      hasOwnShm: false,
      packageManager: null,
      clockAheadMs: null,
      cudaOrder: null,
      killsProcesses: null,
      lingers: null,
      memoryLimit: null,
      scratch: { dir: "", freeKb: null, filesystem: null, unwritable: null, isNoexec: false, unsafe: null },
      homeFilesystem: null,
      setup: null,
      condaDir: null,
      modulesFile: null,
      stuckAt: null,
    },
    survivor: null,
  });
});

test.each([
  ["1000000", 0],
  ["999999", -1],
  ["1000004", 0],
  ["1000065", 60_000],
  // It has only whole seconds: this may be 999939.999.
  ["999939", -60_001],
  ["soon", null],
  ["-5", null],
  ["99999999999999", null],
])("a clock that reads %s is %s ms ahead", (said, ahead) => {
  expect(facts(`time ${said}`).clockAheadMs).toBe(ahead);
});

test.each([
  ["logind KillUserProcesses=yes", true],
  ["logind KillUserProcesses=no", false],
  ["logind KillUserProcesses=maybe", null],
])("%s: %s", (line, kills) => {
  expect(facts(line).killsProcesses).toBe(kills);
});

test.each(["UNKNOWN (0x19830326)", "unknown", ""])('a file system that is "%s" is not known', (type) => {
  expect(facts(`home-filesystem ${type}`).homeFilesystem).toBeNull();
});

test("a directory that is not writable is not called good if the message is missing", () => {
  expect(facts("unwritable ").scratch.unwritable).toBe("no reason was given");
});

test("free space that is no number is unknown", () => {
  expect(facts("free-kb -").scratch.freeKb).toBeNull();
  expect(facts("free-kb 1024").scratch.freeKb).toBe(1024);
});

test("setup: its exit code decides, not its messages", () => {
  expect(facts("setup-said oh no").setup).toBeNull();
  expect(facts("setup-code x").setup).toBeNull();
  expect(facts("setup-code 0", "setup-said a \u001b[2Jb", "setup-said ").setup).toEqual({
    kind: "worked",
    python: null,
    said: ["a  [2Jb"],
  });
  expect(
    facts("setup-code 125", "setup-said why", "setup-said sshoal: the setup of a.yaml failed").setup,
  ).toEqual({
    kind: "failed",
    code: 125,
    said: ["why"],
  });
  for (const start of ["../command: line 7: ", "../command: 7: ", ""])
    expect(facts("setup-code 127", `setup-said ${start}x: not found`).setup).toMatchObject({
      said: ["x: not found"],
    });
  expect(facts("setup-late 60", "setup-code 137").setup).toEqual({ kind: "too-long", seconds: 60 });
});

test("the step at which its time ran out", () => {
  expect(facts("at tools", "at the file system of /nfs", "late").stuckAt).toBe("the file system of /nfs");
  expect(facts("at tools", "at setup").stuckAt).toBeNull();
});

test("a survivor needs a valid pid, start time and boot id, because they are put into a command", () => {
  const boot = "5b1f9a52-0000-4000-8000-000000000000";
  expect(parseDoctor([`survivor 42 777 ${boot}`], times).survivor).toEqual({
    pid: "42",
    started: "777",
    bootId: boot,
  });
  for (const line of [
    "42 777",
    `-1 777 ${boot}`,
    `1;reboot 777 ${boot}`,
    `0 7 ${boot}`,
    `42 777 ${boot}x`,
    "$(reboot) 1 2",
  ])
    expect(parseDoctor([`survivor ${line}`], times).survivor).toBeNull();
});

test("for any output of a machine, no control character is passed on and nothing is thrown", () => {
  const keys = [
    "system",
    "user",
    "missing",
    "place",
    "unwritable",
    "setup-said",
    "setup-code",
    "at",
    "late",
    "conda",
  ];
  const line = fc
    .tuple(fc.constantFrom(...keys), fc.string({ unit: "binary" }))
    .map((words) => words.join(" "));
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
      expect(JSON.stringify(parseDoctor(lines, times))).not.toMatch(/\\u00[01]|\\[bfnrt]/);
    }),
  );
});
