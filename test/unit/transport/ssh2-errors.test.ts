import { expect, test } from "vitest";
import type { ConnectErrorKind } from "../../../src/transport/connect-error.js";
import { explainHandshake, explainSocket } from "../../../src/transport/ssh2-errors.js";

const address = {
  kind: "ssh",
  host: "gpu1",
  port: 2222,
  username: "me",
  keyPath: "/home/me/my key",
} as const;
const login = { methods: [], offered: "the key /home/me/my key", hint: null };

test.each<[string, ConnectErrorKind, boolean]>([
  ["ENOTFOUND", "unknown-host", false],
  ["EAI_AGAIN", "unreachable", true],
  ["ECONNREFUSED", "refused", true],
  ["ETIMEDOUT", "timed-out", true],
  ["EHOSTUNREACH", "unreachable", true],
  ["ENETDOWN", "unreachable", true],
])("%s is %s", (code, kind, isRetryable) => {
  const error = explainSocket(Object.assign(new Error("x"), { code }), address);
  expect(error).toMatchObject({ kind, isRetryable });
  expect(error.message).toMatch(/^gpu1:2222: /);
});

test("when every address of a name fails, the first failure counts", () => {
  const refused = Object.assign(new Error("x"), { code: "ECONNREFUSED" });
  expect(explainSocket(new AggregateError([refused]), address).kind).toBe("refused");
});

test.each<[object, ConnectErrorKind]>([
  [{ level: "client-authentication", message: "All configured authentication methods failed" }, "auth"],
  [{ message: "Too many authentication failures" }, "auth"],
  [{ level: "client-timeout", message: "Timed out while waiting for handshake" }, "silent"],
  [{ level: "client-socket", message: "read ECONNRESET", code: "ECONNRESET" }, "unreachable"],
  [{ level: "protocol", message: "Connection lost before handshake" }, "refused"],
  [{ level: "handshake", message: "no matching key exchange algorithm" }, "protocol"],
])("%o is %s", (error, kind) => {
  expect(explainHandshake(error, { address, login, hasGreeted: false }).kind).toBe(kind);
});

test("the hint is a line to paste", () => {
  const error = explainHandshake(
    { level: "client-authentication", message: "" },
    { address, login, hasGreeted: true },
  );
  expect(error.message).toBe("gpu1:2222: does not let me in with the key /home/me/my key");
  expect(error.hint).toBe("see for yourself: ssh -p 2222 -i '/home/me/my key' me@gpu1");
});
