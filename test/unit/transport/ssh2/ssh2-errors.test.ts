import { expect, test } from "vitest";
import type { ConnectErrorKind } from "../../../../src/transport/connect-error.js";
import type { Login } from "../../../../src/transport/login/key-login.js";
import {
  explainForward,
  explainHandshake,
  explainSocket,
} from "../../../../src/transport/ssh2/ssh2-errors.js";
import { aTarget } from "../a-target.js";

const target = aTarget({ port: 2222, identityFiles: ["/home/me/my key"], hasOwnIdentities: true });
const behind = aTarget({ alias: "gpu1", host: "10.0.0.5", proxyJump: ["bob@jump"] });
const refused = { says: "does not let me in; tried: the key /home/me/my key (refused)", hint: null };
const login: Login = {
  next: () => {},
  shortcuts: { signsAtOnce: false, logsInAtOnce: false },
  accepted: () => "",
  refusal: () => refused,
  isAsking: () => false,
  wantsPerson: () => false,
};

test.each<[string, ConnectErrorKind, boolean]>([
  ["ENOTFOUND", "unknown-host", false],
  ["EAI_AGAIN", "unreachable", true],
  ["ECONNREFUSED", "refused", true],
  ["ETIMEDOUT", "timed-out", true],
  ["EHOSTUNREACH", "unreachable", true],
  ["ENETDOWN", "unreachable", true],
])("%s is %s", (code, kind, isRetryable) => {
  const error = explainSocket(Object.assign(new Error("x"), { code }), target);
  expect(error).toMatchObject({ kind, isRetryable });
  expect(error.message).toMatch(/^gpu1:2222: /);
});

test("a name without an address of the requested family", () => {
  const error = explainSocket({ code: "ENOTFOUND" }, aTarget({ addressFamily: 6 }));
  expect(error.message).toBe("gpu1:22: no such host name with an IPv6 address");
});

test("when every address of a name fails, the first failure counts", () => {
  const everywhere = new AggregateError([Object.assign(new Error("x"), { code: "ECONNREFUSED" })]);
  expect(explainSocket(everywhere, target).kind).toBe("refused");
});

test.each<[object, ConnectErrorKind]>([
  [{ level: "client-authentication", message: "All configured authentication methods failed" }, "auth"],
  [{ message: "Too many authentication failures" }, "auth"],
  [{ level: "client-timeout", message: "Timed out while waiting for handshake" }, "silent"],
  [{ level: "client-socket", message: "read ECONNRESET", code: "ECONNRESET" }, "dropped"],
  [{ level: "protocol", message: "Connection lost before handshake" }, "dropped"],
  [{ level: "handshake", message: "no matching key exchange algorithm" }, "protocol"],
])("%o is %s", (error, kind) => {
  expect(explainHandshake(error, { target, login, hasGreeted: false }).kind).toBe(kind);
});

test.each<[string, object, Login, string | null]>([
  [
    "no common algorithm",
    { level: "handshake", message: "Handshake failed: no matching host key format" },
    login,
    "ssh2 has no algorithm in common with it",
  ],
  ["another protocol", { level: "protocol", message: "Malformed packet" }, login, null],
  ["keys refused", { level: "client-authentication", message: "" }, login, null],
  [
    "keys refused, but a person may be asked",
    { level: "client-authentication", message: "" },
    { ...login, wantsPerson: () => true },
    "it asks for more than a key",
  ],
])("whether the system's ssh may succeed: %s", (_, error, how, reason) => {
  expect(explainHandshake(error, { target, login: how, hasGreeted: false }).opensshReason).toBe(reason);
});

test.each<[object, ConnectErrorKind, string]>([
  [{ reason: 2, message: "(SSH) Channel open failure: Connection refused" }, "refused", "nothing listens"],
  [
    { reason: 2, message: "(SSH) Channel open failure: Connection timed out" },
    "timed-out",
    "does not answer",
  ],
  [{ reason: 2, message: "(SSH) Channel open failure: No route to host" }, "unreachable", "no route to that"],
  [
    { reason: 2, message: "(SSH) Channel open failure: Name or service not known" },
    "unknown-host",
    "no such",
  ],
  [{ reason: 2, message: "(SSH) Channel open failure: open failed" }, "dropped", "dropped"],
  [{ reason: 1, message: "(SSH) Channel open failure: open failed" }, "protocol", "AllowTcpForwarding"],
  [{ message: "Not connected" }, "dropped", "dropped the connection"],
])("a jump host's error %o", (error, kind, words) => {
  const explained = explainForward(error, behind);
  expect(explained.kind).toBe(kind);
  expect(explained.message).toMatch(/^gpu1 \(10\.0\.0\.5:22\) via bob@jump: /);
  expect(explained.message).toContain(words);
});

test("the hint is a command to paste", () => {
  const facts = { target, login, hasGreeted: true };
  const error = explainHandshake({ level: "client-authentication", message: "" }, facts);
  expect(error.message).toBe(`gpu1:2222: ${refused.says}`);
  expect(error.hint).toBe("try it yourself: ssh -p 2222 -i '/home/me/my key' me@gpu1");
});
