import { readFileSync } from "node:fs";
import { PassThrough, Readable } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RemoteError } from "../../../../src/remote/engine/remote-error.js";
import { probe, probeScript } from "../../../../src/remote/probe/probe.js";
import { connectLocal } from "../../../../src/transport/local.js";
import type { ExecEnd, Session } from "../../../../src/transport/session.js";
import { STAND_IN_BIN, saveGpus } from "../../../rig/gpus.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

let home: Workspace;
const never = new AbortController().signal;

beforeEach(async () => {
  home = await makeWorkspace();
  vi.stubEnv("PATH", `${STAND_IN_BIN}:${process.env.PATH}`);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await home.remove();
});

/** Answers every script with the same output. */
function scripted(stdout: string, stderr = "", end: ExecEnd = { kind: "exited", code: 0 }): Session {
  return {
    about: { transport: "local", why: null, login: null, hostKey: null, via: [] },
    exec: async () => ({
      stdin: new PassThrough().resume(),
      stdout: Readable.from([Buffer.from(stdout)]),
      stderr: Readable.from([Buffer.from(stderr)]),
      ended: Promise.resolve(end),
      close() {},
    }),
    gone: new Promise(() => {}),
    close: async () => {},
  };
}

test("reads this computer, with the cards it is given", async () => {
  saveGpus(home.path("nvidia-smi.state"), { gpus: [{ memoryFree: 4321 }] });
  const session = await connectLocal({ homeDir: home.dir });
  try {
    const capacity = await probe(session, { bases: ["~/.sshoal"] }, never);
    expect(capacity.cpus?.total).toBeGreaterThan(0);
    expect(capacity.memory?.freeMb).toBeGreaterThan(0);
    expect(capacity.gpus).toMatchObject([{ memoryFreeMb: 4321 }]);
  } finally {
    await session.close();
  }
});

test("the claims of the own batch are ignored", async () => {
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8");
  const loops = { mine: process.pid, other: process.ppid };
  for (const [batch, pid] of Object.entries(loops)) {
    await home.write(`s/batches/${batch}@h/slots/0/claim`, "5 1 0 0 0 0 -\n");
    await home.write(`s/batches/${batch}@h/slots/0/loop`, `${pid} ${startOf(pid)} ${boot}`);
  }
  const session = await connectLocal({ homeDir: home.dir });
  try {
    const all = await probe(session, { bases: [home.path("s")] }, never);
    expect(all.claims.map(({ batch }) => batch).toSorted()).toEqual(["mine", "other"]);
    const others = await probe(session, { bases: [home.path("s")], except: ["mine"] }, never);
    expect(others.claims.map(({ batch }) => batch)).toEqual(["other"]);
  } finally {
    await session.close();
  }
});

function startOf(pid: number): string | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
}

test.each<[string, Session, string]>([
  ["nothing", scripted(""), "its resources could not be read"],
  [
    "a message on stderr",
    scripted("hi\n", "\nsh: not found\nmore"),
    'could not be read: it said "sh: not found"',
  ],
  [
    "noise on stdout",
    scripted("\n\u001b[1mThis account is locked.\n"),
    'it said "[1mThis account is locked."',
  ],
  ["a lost link", scripted("", "", { kind: "lost", reason: "timed out" }), "could not be read: timed out"],
])("an answer without its end is an error that quotes the messages: %s", async (_, session, message) => {
  const failure = await probe(session, { bases: [] }, never).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(RemoteError);
  expect((failure as RemoteError).message).toContain(message);
});

test("an abort is passed on", async () => {
  const reason = new Error("stopped");
  await expect(probe(scripted(""), { bases: [] }, AbortSignal.abort(reason))).rejects.toBe(reason);
});

test("each root is one word on the machine", () => {
  const script = probeScript("n", ["~", "~/a b", "/it's $HOME", "~/a b"]);
  expect(script.split("\n")).toContain(`set -- "$HOME" "$HOME"/'a b' '/it'\\''s $HOME'`);
});
