// A Session on this computer, without ssh: the same words and the same script line, passed to /bin/sh.

import { spawn } from "node:child_process";
import { readHomeDir } from "../account.js";
import { deferred } from "./deferred.js";
import { LOGIN_SHELL_WORDS } from "./script/bootstrap.js";
import { lostRunning } from "./script/lost-running.js";
import { startScript } from "./script/start-script.js";
import type { ExecEnd, Running, Session } from "./session.js";

export async function connectLocal(options: { homeDir?: string } = {}): Promise<Session> {
  const homeDir = options.homeDir ?? readHomeDir();
  const open = new Set<Running>();
  const gone = deferred<string>();
  let isClosed = false;
  return {
    about: { transport: "local", why: null, login: null, hostKey: null, via: [] },
    gone: gone.promise,
    async exec(script) {
      if (isClosed) return lostRunning("the session was closed");
      const running = startScript(spawnShell(homeDir), script);
      open.add(running);
      void running.ended.then(() => open.delete(running));
      return running;
    },
    async close() {
      isClosed = true;
      for (const running of open) running.close();
      gone.resolve("closed on this side");
    },
  };
}

function spawnShell(homeDir: string): Running {
  const child = spawn("/bin/sh", ["-c", LOGIN_SHELL_WORDS], {
    cwd: "/", // the script itself enters its home, and reports if it cannot
    env: { ...process.env, HOME: homeDir },
    // In its own session: Ctrl-C at the terminal reaches every process of the foreground group, but not these.
    detached: true,
  });
  const { promise: ended, resolve: settle } = deferred<ExecEnd>();
  child.once("error", (error) => settle({ kind: "lost", reason: `cannot start /bin/sh: ${error.message}` }));
  child.once("close", (code, signal) => {
    settle(signal === null ? { kind: "exited", code: code ?? 0 } : { kind: "killed", signal });
  });
  const close = () => {
    settle({ kind: "lost", reason: "closed on this side" });
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    child.unref();
  };
  return { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, ended, close };
}
