// Tests the rig itself, with only OpenSSH's own client.

import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { runCommand } from "../rig/command.js";
import { startRelay } from "../rig/relay.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace } from "../rig/workspace.js";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let one: TestHost;
let two: TestHost;
beforeAll(async () => {
  [one, two] = await Promise.all([
    startSshd({ name: "one" }),
    startSshd({ name: "two", loginShell: "fish" }),
  ]);
});
afterAll(() => Promise.all([one, two].map((host) => host?.stop())));

async function ssh(host: TestHost, command: string, port = host.port): Promise<string> {
  const options = [
    "UserKnownHostsFile=/dev/null",
    "StrictHostKeyChecking=no",
    "LogLevel=ERROR",
    "BatchMode=yes",
  ];
  const args = ["-F", "none", "-i", host.keyPath, "-p", String(port), ...options.flatMap((o) => ["-o", o])];
  const login = `${host.username}@127.0.0.1`;
  const { stdout } = await promisify(execFile)("ssh", [...args, login, command], { timeout: 60_000 });
  return stdout.trim();
}

test("ssh reaches a host and sees its own home and programs", async () => {
  await writeFile(join(one.binDir, "nvidia-smi"), "#!/bin/sh\necho stand-in\n", { mode: 0o755 });
  expect(await ssh(one, 'echo "$HOME"; command -v nvidia-smi; nvidia-smi')).toBe(
    [one.homeDir, join(one.binDir, "nvidia-smi"), "stand-in"].join("\n"),
  );
});

test("two hosts are separate", async () => {
  await ssh(one, 'echo one > "$HOME/mark"');
  expect(await ssh(two, 'ls "$HOME"')).toBe("");
  expect(await ssh(one, 'cat "$HOME/mark"')).toBe("one");
  expect(one.port).not.toBe(two.port);
});

test("a host can have another login shell", async () => {
  expect(await ssh(two, "echo $FISH_VERSION (math 1 + 1)")).toMatch(/^\d+\.\d+\S* 2$/);
});

test("the machine file has the address", async () => {
  const file = await one.machineFile("max_jobs: 2");
  expect(file).toBe(join(one.dir, "one.yaml"));
  expect(await readFile(file, "utf8")).toBe(
    `username: ${one.username}\nip: 127.0.0.1\nport: ${one.port}\nssh_key_path: ${one.keyPath}\nmax_jobs: 2\n`,
  );
});

test("detached processes of a host are found, and end with it", async () => {
  const host = await startSshd();
  await ssh(host, "setsid sleep 1000 </dev/null >/dev/null 2>&1 &");
  await until("the process runs", () => host.pids().length > 0);
  await host.stop();
  await until("the process is gone", () => host.pids().length === 0);
});

test("the built command runs in its own directory, and all its output is captured", async () => {
  const { dir, remove } = await makeWorkspace();
  const { code, stdout, stderr } = await runCommand(["--help"], { cwd: dir, program: "sshoal" });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("sshoal");
  await remove();
});

test("the relay passes data on, counts, and delays", async () => {
  const relay = await startRelay(one.port, { delayMs: 50 });
  const startedAt = performance.now();
  expect(await ssh(one, "echo through", relay.port)).toBe("through");
  // A login takes many round trips, and each direction of each takes 50 ms.
  expect(performance.now() - startedAt).toBeGreaterThan(500);
  expect(relay.connections()).toBe(1);
  await relay.stop();
});

test("the relay cuts connections, and refuses new ones until it accepts again", async () => {
  const relay = await startRelay(one.port);
  const cut = ssh(one, 'touch "$HOME/started"; sleep 1000', relay.port);
  await until("it runs", () => ssh(one, 'ls "$HOME/started"').catch(() => null));
  relay.cut();
  await expect(cut).rejects.toThrow("Command failed");
  relay.refuse();
  await expect(ssh(one, "true", relay.port)).rejects.toThrow("Command failed");
  relay.accept();
  expect(await ssh(one, "echo again", relay.port)).toBe("again");
  await relay.stop();
});

/** A round trip past the relay: by then an echo through it would have arrived, too. */
async function untilEchoed(server: Server): Promise<void> {
  const socket = connect({ port: (server.address() as { port: number }).port, host: "127.0.0.1" });
  let heard = "";
  socket.on("data", (chunk) => {
    heard += chunk;
  });
  socket.write("direct");
  await until("a direct echo", () => heard === "direct");
  socket.destroy();
}

test("a paused relay sends nothing, and continues where it stopped", async () => {
  const server = createServer((socket) => socket.on("error", () => {}).pipe(socket)).listen(0, "127.0.0.1");
  await until("it listens", () => server.listening);
  const relay = await startRelay((server.address() as { port: number }).port);
  const socket = connect({ port: relay.port, host: "127.0.0.1" });
  let heard = "";
  socket.on("error", () => {}); // the relay's stop resets it
  socket.on("data", (chunk) => {
    heard += chunk;
  });
  socket.write("a");
  await until("an echo", () => heard === "a");
  relay.pause();
  socket.write("b");
  await untilEchoed(server);
  expect(heard).toBe("a");
  relay.resume();
  await until("the rest", () => heard === "ab");
  await relay.stop();
  server.close();
});
