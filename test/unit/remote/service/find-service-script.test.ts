// The script that looks for a queue service, run by several shells in a home of its own.

import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { hostname } from "node:os";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

const SCRIPT = readFileSync("src/remote/runtime/find-service.sh", "utf8");
const STATE = ".local/state/sshoal";

let home: Workspace;
let note: string;
let socket: string;
let server: Server;

beforeEach(async () => {
  home = await makeWorkspace();
  await mkdir(home.path(STATE), { recursive: true });
  note = home.path(`${STATE}/service@${hostname().replace(/[^\w.-]/g, "_")}.json`);
  socket = home.path("s");
  server = createServer();
  await new Promise<void>((resolve) => server.listen(socket, resolve));
});
afterEach(async () => {
  server.close();
  await home.remove();
});

function writeNote(path = socket): string {
  const text = JSON.stringify({ pid: 1, socket: path, version: "1.2.3", state: "/s" });
  writeFileSync(note, `${text}\n`, { mode: 0o600 });
  return text;
}

function run(shell: string, env: Readonly<Record<string, string>> = {}): string {
  const [program = "", ...words] = shell.split(" ");
  const PATH = "/usr/local/bin:/usr/bin:/bin";
  return execFileSync(program, [...words, "-c", SCRIPT], {
    env: { PATH, HOME: home.dir, ...env },
    encoding: "utf8",
  });
}

describe.each(["/bin/dash", "/bin/bash", "/bin/busybox sh"])("%s", (shell) => {
  test("a note and its socket are found", () => {
    const text = writeNote();
    expect(run(shell)).toBe(`found\n${text}\n`);
  });

  test("without a note, or without its socket, there is no service", () => {
    expect(run(shell)).toBe("none\n");
    writeNote(home.path("gone"));
    expect(run(shell)).toBe("none\n");
    writeFileSync(note, "{}\n", { mode: 0o600 });
    expect(run(shell)).toBe("none\n");
    // A path that JSON escapes is not understood, and is never mistaken for another one.
    writeNote(`${socket}\\`);
    expect(run(shell)).toBe("none\n");
  });

  test("a note that another account could have written is not used", () => {
    writeNote();
    chmodSync(note, 0o644);
    expect(run(shell)).toBe(`foreign ${note}\n`);
    chmodSync(note, 0o600);
    renameSync(note, home.path("elsewhere"));
    symlinkSync(home.path("elsewhere"), note);
    expect(run(shell)).toBe(`foreign ${note}\n`);
  });

  test("XDG_STATE_HOME counts if it is absolute", () => {
    writeNote();
    expect(run(shell, { XDG_STATE_HOME: home.path("other") })).toBe("none\n");
    expect(run(shell, { XDG_STATE_HOME: "other" })).toMatch(/^found\n/);
  });
});

test("only ls is started, because each program takes its time on a busy computer", async () => {
  const text = writeNote();
  const bin = home.path("bin");
  await mkdir(bin);
  symlinkSync("/bin/ls", `${bin}/ls`);
  expect(run("/bin/dash", { PATH: bin })).toBe(`found\n${text}\n`);
  rmSync(bin, { recursive: true });
});
