import { Readable, Writable } from "node:stream";
import { expect, test } from "vitest";
import { runScript } from "../../../../src/transport/script/run-script.js";
import type { Session } from "../../../../src/transport/session.js";

/** Runs one script, which has printed its answer and ended by then. */
function aSession(stdin: Writable): Session {
  return {
    about: { transport: "local", why: null, login: null, hostKey: null, via: [] },
    gone: new Promise(() => {}),
    exec: async () => ({
      stdin,
      stdout: Readable.from([Buffer.from("refused\n")]),
      stderr: Readable.from([]),
      ended: Promise.resolve({ kind: "exited", code: 1 }),
      close: () => stdin.destroy(),
    }),
    close: async () => {},
  };
}

/** As a pipe whose reader has ended. */
function aClosedPipe(): Writable {
  return new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error("write EPIPE"), { code: "EPIPE" })),
  });
}

/** Destroyed with an error, it fails at once, as every source does in some version of Node. */
function aSource(read: (source: Readable) => void): Readable {
  return new Readable({
    read() {
      read(this);
    },
  });
}

test("a script that ends before it has read everything is answered", async () => {
  const data = aSource((source) => source.push(Buffer.alloc(65536)));
  const answer = await runScript(aSession(aClosedPipe()), "", { stdin: data });
  expect(answer).toMatchObject({ stdout: "refused\n", end: { kind: "exited", code: 1 } });
  expect(data.destroyed).toBe(true);
});

test("so is one that ended before anything was sent", async () => {
  const stdin = aClosedPipe();
  stdin.on("error", () => {});
  stdin.destroy(new Error("write EPIPE"));
  const data = aSource((source) => source.push(Buffer.alloc(65536)));
  const answer = await runScript(aSession(stdin), "", { stdin: data });
  expect(answer.stdout).toBe("refused\n");
});

test("a source that cannot be read is a failure", async () => {
  const stdin = new Writable({ write: (_chunk, _encoding, done) => done() });
  const data = aSource((source) => source.destroy(new Error("EIO: i/o error, read")));
  await expect(runScript(aSession(stdin), "", { stdin: data })).rejects.toThrow("EIO");
});
