// A script that did not begin because the connection was gone. Callers see the same `lost` as if it was lost a moment
// later.

import { Readable, Writable } from "node:stream";
import type { Running } from "../session.js";

export function lostRunning(reason: string): Running {
  const stdin = new Writable({ write: (_chunk, _encoding, done) => done(brokenPipe(reason)) });
  stdin.on("error", () => {});
  return {
    stdin,
    stdout: Readable.from([]),
    stderr: Readable.from([]),
    ended: Promise.resolve({ kind: "lost", reason }),
    close: () => {},
  };
}

export function brokenPipe(reason: string): Error {
  return Object.assign(new Error(reason), { code: "EPIPE" });
}
