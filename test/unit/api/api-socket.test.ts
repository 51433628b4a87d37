import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, lstatSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { UserError } from "../../../src/errors.js";
import { isRoot, remoteAccount } from "../../rig/account.js";
import { until } from "../../rig/until.js";
import { useServed } from "./served.js";

const served = useServed();
const isAnswered = () =>
  served.ask("GET", "/v1/health").then(
    ({ status }) => status === 200,
    () => false,
  );

test("only this account can use the socket, and it is removed in the end", async () => {
  expect(statSync(served.socket).mode & 0o777).toBe(0o600);
  await served.close();
  expect(existsSync(served.socket)).toBe(false);
});

test.skipIf(!isRoot)(
  "another account cannot connect, even to a socket that its directory does not hide",
  () => {
    chmodSync(served.work.dir, 0o755);
    chmodSync(served.work.path("s"), 0o755);
    const { uid, gid } = remoteAccount();
    const ask = [
      "-s",
      "-o",
      "/dev/null",
      "-w",
      "%{http_code}",
      "--unix-socket",
      served.socket,
      "http://localhost/v1/health",
    ];
    expect(() => execFileSync("curl", ask, { uid, gid, stdio: "pipe" })).toThrow(/Command failed/);
  },
);

test("a second service is refused while the first one listens, which goes on", async () => {
  await expect(served.open()).rejects.toThrow(/another service listens there/);
  expect(await isAnswered()).toBe(true);
  expect(served.service.listenerCount()).toBe(1);
});

test("the socket of a killed service is replaced", async () => {
  await served.close();
  const left = createServer().listen(served.socket);
  await until("it is there", () => existsSync(served.socket));
  // Closing normally would remove it.
  renameSync(served.socket, served.work.path("kept"));
  left.close();
  renameSync(served.work.path("kept"), served.socket);
  await served.open();
  expect(await isAnswered()).toBe(true);
});

test("a socket that is removed is made again, also with its directory, and open requests go on", async () => {
  const events = await served.stream("/v1/events");
  const first = lstatSync(served.socket).ino;
  rmSync(served.socket);
  await until("it is there again", isAnswered);
  rmSync(served.work.path("s"), { recursive: true });
  await until("it is there once more", isAnswered);
  expect(statSync(served.work.path("s")).mode & 0o777).toBe(0o700);
  expect(statSync(served.socket).mode & 0o777).toBe(0o600);
  expect(first).toBeGreaterThan(0);
  expect(events.destroyed).toBe(false);
  events.on("error", () => {}).destroy();
});

test("a directory that others can enter and a long path are refused", async () => {
  await served.close();
  mkdirSync(served.work.path("open"));
  chmodSync(served.work.path("open"), 0o755);
  served.socket = served.work.path("open/api.sock");
  await expect(served.open()).rejects.toThrow(UserError);
  served.socket = served.work.path(`s/${"l".repeat(100)}`);
  await expect(served.open()).rejects.toThrow(/longer than 107 bytes/);
});

test("two hundred connections are answered at the same time", async () => {
  const answers = await Promise.all(Array.from({ length: 200 }, () => served.ask("GET", "/v1/queues")));
  expect(answers.every(({ status }) => status === 200)).toBe(true);
});

test("the end of the API does not wait for clients that only keep a connection", async () => {
  const stream = await served.stream("/v1/events");
  stream.on("error", () => {}).pause();
  await served.close();
  expect(await isAnswered()).toBe(false);
});
