// Sessions over ssh2 and the system's ssh against a real sshd, and on this computer: all give the same guarantees.

import { createHash, randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { runScript } from "../../src/transport/script/run-script.js";
import type { Session } from "../../src/transport/session.js";
import { addressOf, connectFrom } from "../rig/connect.js";
import { type Relay, startRelay } from "../rig/relay.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let host: TestHost;
let client: Workspace;
let relay: Relay;
const sessions: Session[] = [];

beforeAll(async () => {
  [host, client] = await Promise.all([startSshd({ loginShell: "bash" }), makeWorkspace()]);
  relay = await startRelay(host.port);
});
afterEach(() => Promise.all(sessions.splice(0).map((session) => session.close())));
afterAll(async () => {
  await relay?.stop();
  await Promise.all([host?.stop(), client?.remove()]);
});

/** `config`: lines of the user's ssh configuration. */
async function open(kind: string, port = host.port, config: string | null = null): Promise<Session> {
  const configFile = config === null ? null : await client.write("config", config);
  const homeDir = kind === "local" ? host.homeDir : client.dir;
  const transport = kind === "openssh" ? kind : "ssh2";
  const address =
    kind === "local" ? ({ kind: "local" } as const) : addressOf(host, { port, configFile, transport });
  const session = await connectFrom(homeDir)(address);
  sessions.push(session);
  return session;
}

function sha256(data: Buffer): string {
  return createHash("sha256").update(data).digest("hex");
}

async function read(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

describe.each(["ssh2", "openssh", "local"])("a session (%s)", (kind) => {
  test("runs a script in the home directory and returns its output and its exit code", async () => {
    const session = await open(kind);
    const script = 'pwd\necho "é \\\\ $0" >&2\n[ -t 0 ] || exit 42';
    expect(await runScript(session, script)).toEqual({
      stdout: `${host.homeDir}\n`,
      stderr: "é \\ sh\n",
      end: { kind: "exited", code: 42 },
    });
  });

  test("distinguishes a script that was killed from one that exited", async () => {
    const session = await open(kind);
    // The system's ssh does not report which signal it was.
    const name = (signal: string) => (kind === "openssh" ? "a signal" : signal);
    for (const signal of ["SIGKILL", "SIGTERM"]) {
      const { end } = await runScript(session, `kill -${signal.slice(3)} $$`);
      expect(end).toEqual({ kind: "killed", signal: name(signal) });
    }
    expect((await runScript(session, "no-such-program")).end).toEqual({ kind: "exited", code: 127 });
    expect((await runScript(session, "exit 255")).end).toEqual({ kind: "exited", code: 255 });
  });

  test("carries binary data unchanged both ways at once", async () => {
    const session = await open(kind);
    const data = randomBytes(1 << 20);
    const running = await session.exec("cat");
    running.stderr.resume();
    const [echo] = await Promise.all([read(running.stdout), pipeline(Readable.from([data]), running.stdin)]);
    expect(sha256(echo)).toBe(sha256(data));
    expect(await running.ended).toEqual({ kind: "exited", code: 0 });
  });

  test("100 MB through stdin keep the memory flat, and wait for a reader that starts late", async () => {
    const session = await open(kind);
    const chunk = randomBytes(1 << 20);
    const sum = createHash("sha256");
    let sent = 0;
    const source = Readable.from(
      (function* () {
        for (; sent < 100; sent++) {
          sum.update(chunk);
          yield chunk;
        }
      })(),
      { highWaterMark: 1 },
    );
    const go = join(host.homeDir, `go-${kind}`);
    const running = await session.exec(`while ! [ -e ${go} ]; do sleep 0.05; done; sha256sum; echo done >&2`);
    const before = process.memoryUsage.rss();
    const answer = Promise.all([read(running.stdout), read(running.stderr), pipeline(source, running.stdin)]);
    await until("the pipe is full", () => sent > 0);
    await runScript(session, "sleep 0.3"); // enough time for a sender that does not wait to send everything
    expect(sent).toBeLessThan(20);
    await writeFile(go, "");
    const [stdout] = await answer;
    expect(stdout.toString()).toBe(`${sum.digest("hex")}  -\n`);
    expect(process.memoryUsage.rss() - before).toBeLessThan(100 * 1024 * 1024);
  });

  test("a script stops while its stdout is not read, and continues when it is", async () => {
    const session = await open(kind);
    const running = await session.exec(
      'i=0; while [ $i -lt 64 ]; do head -c 1000000 /dev/zero; i=$((i+1)); echo $i >"$HOME/progress"; done',
    );
    running.stderr.resume();
    running.stdin.end();
    const progress = async () => Number((await runScript(session, 'cat "$HOME/progress"')).stdout);
    await until("it writes", async () => (await progress()) > 0);
    let last = -1;
    await until("it has stopped", async () => {
      const now = await progress();
      const isStill = now === last;
      last = now;
      return isStill;
    });
    expect(last).toBeLessThan(32);
    let bytes = 0;
    for await (const chunk of running.stdout) bytes += (chunk as Buffer).length;
    expect(bytes).toBe(64_000_000);
  });

  test("more scripts at once than sshd allows sessions all get their turn", async () => {
    const session = await open(kind);
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) => runScript(session, `sleep 0.0${i % 5}; echo ${i}`)),
    );
    expect(answers.map(({ stdout }) => Number(stdout))).toEqual(Array.from({ length: 30 }, (_, i) => i));
  });

  test("a script that ends without reading its stdin is judged by its exit code", async () => {
    const session = await open(kind);
    const stdin = Readable.from(Array.from({ length: 64 }, () => Buffer.alloc(1 << 20)));
    expect(await runScript(session, "echo enough; exit 3", { stdin })).toEqual({
      stdout: "enough\n",
      stderr: "",
      end: { kind: "exited", code: 3 },
    });
  });

  test("a source of stdin that fails is an error, not sent as if it were complete", async () => {
    const session = await open(kind);
    const stdin = new Readable({ read: () => stdin.destroy(new Error("disk on fire")) });
    await expect(runScript(session, "cat", { stdin })).rejects.toThrow("disk on fire");
  });

  test("an answer beyond its limit is an error, a long stderr is cut to its end", async () => {
    const session = await open(kind);
    await expect(runScript(session, "yes", { maxBytes: 100_000 })).rejects.toThrow(
      "more than the allowed 100000 bytes",
    );
    const { stderr } = await runScript(session, "yes | head -c 1000000 >&2; echo last >&2");
    expect(stderr).toHaveLength(64 * 1024);
    expect(stderr).toMatch(/last\n$/);
  });

  test("an aborted script rejects with the reason, and releases its channel", async () => {
    const session = await open(kind);
    const abort = new AbortController();
    const mark = join(host.homeDir, `started-${kind}`);
    const scripts = Array.from({ length: 12 }, () =>
      runScript(session, `touch ${mark}; cat; touch ${mark}-eof`, {
        stdin: new Readable({ read: () => {} }),
        signal: abort.signal,
      }),
    );
    const settled = Promise.allSettled(scripts);
    await until("they run", () => existsSync(mark));
    abort.abort(new Error("enough"));
    for (const { status, reason } of (await settled) as PromiseRejectedResult[]) {
      expect([status, reason.message]).toEqual(["rejected", "enough"]);
    }
    expect((await runScript(session, "echo next")).stdout).toBe("next\n");
    await until("cat saw its input end", () => existsSync(`${mark}-eof`));
    await expect(runScript(session, "echo never", { signal: abort.signal })).rejects.toThrow("enough");
  });

  test("close() ends the streams at once and does not touch running processes", async () => {
    const session = await open(kind);
    const mark = join(host.homeDir, `outlived-${kind}`);
    const running = await session.exec(`echo on; cat >/dev/null; touch ${mark}; sleep 0.1`);
    running.stderr.resume();
    await new Promise((resolve) => running.stdout.once("data", resolve));
    running.close();
    expect(await running.ended).toEqual({ kind: "lost", reason: "closed on this side" });
    await read(running.stdout);
    await until("it went on", () => existsSync(mark));
  });

  test("after close() the session is gone, and scripts are lost, not thrown", async () => {
    const session = await open(kind);
    const running = await session.exec("sleep 1000");
    running.stdout.resume();
    running.stderr.resume();
    await session.close();
    expect(await session.gone).toBe("closed on this side");
    expect((await running.ended).kind).toBe("lost");
    expect((await runScript(session, "true", { stdin: "x" })).end.kind).toBe("lost");
    await session.close();
  });
});

describe("over ssh", () => {
  test("output of start-up files is not in the answer", async () => {
    const rc = join(host.homeDir, ".bashrc");
    await writeFile(
      rc,
      "echo Welcome to the cluster; printf 'sshoal-begin-'; cat /etc/passwd; echo oops >&2\n",
    );
    const session = await open("ssh");
    const { stdout, stderr } = await runScript(session, "echo clean");
    await writeFile(rc, "");
    expect({ stdout, stderr }).toEqual({ stdout: "clean\n", stderr: "oops\n" });
  });

  test("a start-up file that runs something else is a failure with a reason, even if it exits with 0", async () => {
    const rc = join(host.homeDir, ".bashrc");
    await writeFile(rc, "echo This account is closed.; exit 0\n");
    const session = await open("ssh");
    const { stdout, stderr, end } = await runScript(session, "echo never");
    await writeFile(rc, "");
    expect(end).toEqual({ kind: "exited", code: 127 });
    expect({ stdout, stderr }).toEqual({
      stdout: "",
      stderr: "the login shell did not start sh, it printed: This account is closed.\n",
    });
  });

  test("a cut connection loses its scripts, with the reason", async () => {
    const session = await open("ssh", relay.port);
    const running = await session.exec("echo on; exec sleep 1000");
    running.stderr.resume();
    let stdout = "";
    running.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
    await until("it runs", () => stdout === "on\n");
    relay.cut();
    expect(await running.ended).toMatchObject({ kind: "lost", reason: "read ECONNRESET" });
    await until("its output ends", () => running.stdout.readableEnded);
    expect(await session.gone).toMatch(/ECONNRESET/);
    expect((await runScript(session, "true")).end.kind).toBe("lost");
  });

  test("output that is cut off is lost, even if the exit code came first", async () => {
    const session = await open("ssh", relay.port);
    // The background process holds stdout open: sshd reports the exit, but not the end of the output.
    const running = await session.exec("(sleep 1000; echo more) & echo some; exit 0");
    running.stderr.resume();
    await new Promise((resolve) => running.stdout.once("data", resolve));
    await runScript(session, "true");
    relay.cut();
    expect(await running.ended).toMatchObject({ kind: "lost" });
  });

  test("keepalives detect a silent connection", async () => {
    const session = await open("ssh", relay.port, "ServerAliveInterval 1\nServerAliveCountMax 1\n");
    const running = await session.exec("sleep 1000");
    running.stdout.resume();
    running.stderr.resume();
    relay.pause();
    expect(await session.gone).toBe("Keepalive timeout");
    expect(await running.ended).toEqual({ kind: "lost", reason: "Keepalive timeout" });
    relay.resume();
  });

  test("close() does not wait for a silent machine", async () => {
    const session = await open("ssh", relay.port);
    relay.pause();
    const startedAt = performance.now();
    await session.close();
    expect(performance.now() - startedAt).toBeLessThan(5000);
    relay.resume();
  });

  test("a server that allows one session at a time is asked again until there is room", async () => {
    const narrow = await startSshd({ config: ["MaxSessions 1"] });
    const session = await connectFrom(client.dir)(addressOf(narrow));
    const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => runScript(session, `echo ${i}`)));
    expect(answers.map(({ stdout }) => Number(stdout))).toEqual(Array.from({ length: 12 }, (_, i) => i));
    await session.close();
    await narrow.stop();
  });

  test("shells that were started in advance take the next scripts, and end with the connection", async () => {
    const rc = join(host.homeDir, ".bashrc");
    await writeFile(rc, 'echo noise; echo $$ >>"$HOME/started"\n');
    const started = () => readFileSync(join(host.homeDir, "started"), "utf8").trim().split("\n");
    const session = await open("ssh");
    session.makeReady?.(2);
    await until("both wait", () => existsSync(join(host.homeDir, "started")) && started().length === 2);
    const answers = [await runScript(session, "echo $$"), await runScript(session, "echo $$")];
    expect(answers.map(({ stdout }) => stdout.trim()).sort()).toEqual(started().sort());
    session.makeReady?.(1);
    await until("another waits", () => started().length === 3);
    await session.close();
    await until("it is gone", () => !existsSync(`/proc/${started()[2]}`));
    await writeFile(rc, "");
  });

  test("a script that reads nothing comes with the words that start its shell, unless a shell waits", async () => {
    const session = await open("ssh");
    const script = 'tr "\\0" " " </proc/$$/cmdline | grep -c "[e]cho here"; echo here';
    const run = async () => (await runScript(session, script, { readsNothing: true })).stdout;
    expect(await run()).toBe("1\nhere\n");
    session.makeReady?.(1);
    // While the shell starts, scripts still travel in words.
    let said = await run();
    while (said === "1\nhere\n") said = await run();
    expect(said).toBe("0\nhere\n");
  });

  test("a script that the login shell refuses in its words runs in another shell", async () => {
    const narrow = await startSshd({ loginShell: "bsd-csh" });
    const session = await connectFrom(client.dir)(addressOf(narrow));
    const script = `echo one; echo two >&2; exit 5; ${"#".repeat(5000)}`;
    const { stdout, stderr, end } = await runScript(session, script, { readsNothing: true });
    expect({ stdout, stderr, end }).toEqual({
      stdout: "one\n",
      stderr: "two\n",
      end: { kind: "exited", code: 5 },
    });
    await session.close();
    await narrow.stop();
  });

  test("a server with room for one session takes scripts in turn, even if more shells were requested", async () => {
    const narrow = await startSshd({ config: ["MaxSessions 1"] });
    const session = await connectFrom(client.dir)(addressOf(narrow));
    session.makeReady?.(3);
    for (const word of ["one", "two", "three"]) {
      expect((await runScript(session, `echo ${word}`)).stdout).toBe(`${word}\n`);
      session.makeReady?.(2);
    }
    await session.close();
    await narrow.stop();
  });

  test("a new key exchange during a transfer harms neither the data nor the check of the host", async () => {
    const rekeying = await startSshd({ config: ["RekeyLimit 1M"] });
    const notes: string[] = [];
    const onNote = (note: string) => notes.push(note);
    const session = await connectFrom(client.dir, { onNote })(addressOf(rekeying));
    const data = randomBytes(20 << 20);
    const { stdout } = await runScript(session, "sha256sum", { stdin: data });
    expect(stdout).toBe(`${sha256(data)}  -\n`);
    expect(notes).toHaveLength(1);
    await session.close();
    await rekeying.stop();
  });

  test.each(["bash", "dash", "zsh", "ksh", "fish", "tcsh"])("%s as login shell", async (loginShell) => {
    const other = await startSshd({ loginShell });
    const session = await connectFrom(client.dir)(addressOf(other));
    const data = randomBytes(1 << 16);
    const { stdout, end } = await runScript(session, "pwd; sha256sum; exit 5", { stdin: data });
    await session.close();
    await other.stop();
    expect(stdout).toBe(`${other.homeDir}\n${sha256(data)}  -\n`);
    expect(end).toEqual({ kind: "exited", code: 5 });
  });
});

test("on this computer, a script has its own session, which Ctrl-C does not reach", async () => {
  const session = await open("local");
  const { stdout } = await runScript(session, "echo $$ $(ps -o sid= -p $$)");
  const [pid, sessionId] = stdout.trim().split(/\s+/);
  expect(pid).toBe(sessionId);
});
