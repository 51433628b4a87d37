import { EventEmitter } from "node:events";
import type { Duplex } from "node:stream";
import type { Client } from "ssh2";
import { afterEach, expect, test, vi } from "vitest";
import { runScript } from "../../../../src/transport/script/run-script.js";
import { Ssh2Session } from "../../../../src/transport/ssh2/ssh2-session.js";

afterEach(() => {
  vi.useRealTimers();
});

const PLACE = {
  alias: "gpu1",
  described: "gpu1:22",
  tryIt: "ssh ada@gpu1 true",
  mostChannels: 8,
};

/** A client with this exec. */
function session(exec: (done: (error: Error) => void) => void) {
  const client = Object.assign(new EventEmitter(), {
    exec: vi.fn((_command: string, done: (error: Error) => void) => exec(done)),
  });
  const socket = { writable: true };
  const made = new Ssh2Session(client as unknown as Client, socket as Duplex, PLACE);
  return { client, socket, session: made };
}

test("a server without room for another session is asked for 10 seconds, then it is an error", async () => {
  vi.useFakeTimers();
  const full = Object.assign(new Error("open failed"), { reason: 2 });
  const { client, session: full1 } = session((done) => done(full));
  const failed = expect(full1.exec("true")).rejects.toMatchObject({
    kind: "no-session",
    message: "gpu1:22: allows no further session on this connection (MaxSessions in its sshd_config)",
  });
  await vi.advanceTimersByTimeAsync(11_000);
  await failed;
  expect(client.exec.mock.calls.length).toBeGreaterThan(20);
  expect(client.exec.mock.calls.length).toBeLessThan(100);
});

test("a server that starts no command is not asked again on this connection, but later, since a process limit may be the reason", async () => {
  const { client, session: sftpOnly } = session((done) => done(new Error("Unable to exec")));
  await expect(sftpOnly.exec("true")).rejects.toMatchObject({ kind: "no-session", isRetryable: true });
  expect(client.exec).toHaveBeenCalledTimes(1);
});

test("exec on a lost connection is lost, whether ssh2 throws or calls back", async () => {
  const throwing = session(() => {
    throw new Error("Not connected");
  });
  throwing.socket.writable = false;
  expect((await runScript(throwing.session, "true")).end.kind).toBe("lost");

  const calling = session((done) => {
    calling.client.emit("error", new Error("read ECONNRESET"));
    calling.client.emit("close");
    done(new Error("No response from server"));
  });
  expect((await runScript(calling.session, "true", { stdin: "data" })).end).toEqual({
    kind: "lost",
    reason: "read ECONNRESET",
  });
  expect(await calling.session.gone).toBe("read ECONNRESET");
});

test("closing waits until the message is sent, not for an answer", async () => {
  const { client, socket, session: closing } = session(() => {});
  const events = new EventEmitter();
  const end = vi.fn();
  Object.assign(client, { end });
  Object.assign(socket, { once: events.once.bind(events), destroy: () => client.emit("close") });
  let isGone = false;
  void closing.gone.then(() => {
    isGone = true;
  });
  const closed = closing.close();
  expect(end).toHaveBeenCalledOnce();
  events.emit("finish");
  await closed;
  await closing.close();
  expect(isGone).toBe(false);
  client.emit("close");
  expect(await closing.gone).toBe("closed on this side");
});

test("closing gives up on a machine that accepts no data", async () => {
  vi.useFakeTimers();
  const { client, socket, session: stuck } = session(() => {});
  Object.assign(client, { end: () => {} });
  Object.assign(socket, { once: () => {}, destroy: () => client.emit("close") });
  const closed = stuck.close();
  await vi.advanceTimersByTimeAsync(1000);
  await closed;
  expect(await stuck.gone).toBe("closed on this side");
});
