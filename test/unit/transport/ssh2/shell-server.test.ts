import { connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { runScript } from "../../../../src/transport/script/run-script.js";
import { makeOneTimeKey } from "../../../../src/transport/ssh2/one-time-key.js";
import { serveShell } from "../../../../src/transport/ssh2/shell-server.js";
import { connectOverStream } from "../../../../src/transport/ssh2/ssh2-over-stream.js";

const SHELL = { path: "/bin/sh", env: { HOME: "/tmp", PATH: process.env.PATH ?? "", FRUIT: "pear" } };
const signal = new AbortController().signal;

/** Both ends of a connection. */
async function socketPair(): Promise<readonly [Socket, Socket]> {
  const server = createServer({ noDelay: true, allowHalfOpen: true });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
  const near = connect({ port: (server.address() as { port: number }).port, noDelay: true });
  const far = await accepted;
  for (const socket of [near, far]) socket.on("error", () => {});
  onTestFinished(() => {
    near.destroy();
    far.destroy();
    server.close();
  });
  return [near, far];
}

async function link() {
  const [near, far] = await socketPair();
  const [hostKey, key] = [makeOneTimeKey(), makeOneTimeKey()];
  const serving = serveShell({ stream: far, hostKey, clientKey: key.publicKey, shell: SHELL }, signal);
  const session = await connectOverStream({ stream: near, name: "box", hostKey: hostKey.publicKey, key });
  return { session, served: await serving, near, far };
}

test("scripts run in the home directory, with the environment of the served shell alone", async () => {
  const { session } = await link();
  const { stdout, end } = await runScript(session, 'pwd; echo "$FRUIT:$VITEST:"');
  expect(stdout).toBe("/tmp\npear::\n");
  expect(end).toEqual({ kind: "exited", code: 0 });
});

test("exit codes and signals of scripts arrive, and both streams", async () => {
  const { session } = await link();
  const failed = await runScript(session, "echo out; echo err >&2; exit 7");
  expect(failed).toEqual({ stdout: "out\n", stderr: "err\n", end: { kind: "exited", code: 7 } });
  const killed = await runScript(session, "kill -KILL $$");
  expect(killed.end).toEqual({ kind: "killed", signal: "SIGKILL" });
  const atOnce = await runScript(session, "echo quick", { readsNothing: true });
  expect(atOnce.stdout).toBe("quick\n");
});

test("more than a window of stdin, stdout and stderr arrives whole", async () => {
  const { session } = await link();
  const bytes = Buffer.alloc(5 << 20, "0123456789abcdef");
  const copied = await runScript(session, "cat", { stdin: bytes });
  expect(Buffer.from(copied.stdout).equals(bytes)).toBe(true);
  const both = await runScript(session, "head -c 4000000 /dev/zero >&2; head -c 4000000 /dev/zero");
  expect([both.stdout.length, both.stderr.length, both.end]).toEqual([
    4_000_000,
    64 << 10,
    { kind: "exited", code: 0 },
  ]);
});

test("a script whose channel is closed sees its streams end", async () => {
  const { session } = await link();
  const running = await session.exec("cat >/dev/null; echo over >&2; trap '' PIPE; sleep 0.01; echo x");
  running.stderr.on("data", () => {});
  running.close();
  expect((await running.ended).kind).toBe("lost");
  // The connection serves others.
  expect((await runScript(session, "echo still")).stdout).toBe("still\n");
});

test("many scripts run at a time over one connection", async () => {
  const { session } = await link();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      runScript(session, `read -r line; echo ${index}$line`, { stdin: "!\n" }),
    ),
  );
  expect(answers.map(({ stdout }) => stdout.trim())).toEqual(answers.map((_, index) => `${index}!`));
});

test("another host key is refused, and so is another client key", async () => {
  for (const wrong of ["host", "client"] as const) {
    const [near, far] = await socketPair();
    const [hostKey, key, other] = [makeOneTimeKey(), makeOneTimeKey(), makeOneTimeKey()];
    const clientKey = (wrong === "client" ? other : key).publicKey;
    const serving = serveShell({ stream: far, hostKey, clientKey, shell: SHELL }, signal);
    const expected = (wrong === "host" ? other : hostKey).publicKey;
    const connecting = connectOverStream({ stream: near, name: "box", hostKey: expected, key });
    await Promise.all([expect(connecting).rejects.toThrow(), expect(serving).rejects.toThrow()]);
  }
});

test("the end of the stream ends the link, also of a stream that can still be written", async () => {
  const { served, near } = await link();
  near.end();
  await served.gone;
});

test("both sides notice that the link is cut", async () => {
  const { session, served, far } = await link();
  const running = await session.exec("cat");
  far.resetAndDestroy();
  expect((await running.ended).kind).toBe("lost");
  await Promise.all([session.gone, served.gone]);
});
