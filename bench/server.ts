// Measures a command that asks a queue service on another computer through ssh, against ssh itself.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import path from "node:path";
import { killAll, pidsWithHome } from "../test/rig/processes.js";
import { startRelay } from "../test/rig/relay.js";
import { startSshd, type TestHost } from "../test/rig/sshd.js";
import { compare, type Row } from "./report.js";
import type { Rig } from "./rig.js";
import { takeTurns, timeOf } from "./rounds.js";

const ROUNDS = 11;
const FAR_MS = 25;
const GOAL = 1.3;

export async function server(rig: Rig): Promise<Row[]> {
  const host = await startSshd({ name: "lab", username: userInfo().username });
  const relay = await startRelay(host.port, { delayMs: FAR_MS });
  const program = path.join(path.dirname(rig.program), "sshoal.js");
  const there = (...args: string[]) =>
    execFileSync(process.execPath, [program, ...args], {
      cwd: host.homeDir,
      env: { PATH: process.env.PATH, HOME: host.homeDir },
    });
  try {
    there("serve");
    there("queue", "create", "bench");
    there("queue", "pause", "bench");
    return [
      await oneEnqueue(rig, { host, port: host.port, program, what: "one `sshoal enqueue --server`" }),
      await oneEnqueue(rig, {
        host,
        port: relay.port,
        program,
        what: "the same, with a round trip of 50 ms",
      }),
    ];
  } finally {
    killAll(pidsWithHome(host.homeDir));
    await relay.stop();
    await host.stop();
  }
}

interface Trial {
  readonly host: TestHost;
  readonly port: number;
  readonly program: string;
  readonly what: string;
}

async function oneEnqueue(rig: Rig, { host, port, program, what }: Trial): Promise<Row> {
  const file = await host.machineFile("", { port });
  const known = rig.home.path(".ssh/known_hosts");
  const login = ["-p", `${port}`, "-i", host.keyPath, "-o", `UserKnownHostsFile=${known}`];
  const trust = ["-o", "StrictHostKeyChecking=accept-new", "-o", "BatchMode=yes"];
  const ssh = ["ssh", "-F", "none", ...login, ...trust, `${host.username}@127.0.0.1`, "true"];
  const ours = [process.execPath, program, "enqueue", "bench", "--server", file, "--cwd", "/", "--", "true"];
  const isAdded = async () => {
    if (!/^bench\/\d+\n$/.test(readFileSync(rig.stdout, "utf8"))) throw new Error("no job was added");
  };
  const taken = await takeTurns(what, ROUNDS, {
    peer: rig.command(ssh),
    ours: { ...rig.command(ours), check: isAdded },
  });
  return compare({
    what,
    ours: timeOf(taken.ours),
    peer: timeOf(taken.peer),
    peerName: "`ssh host true`",
    goal: GOAL,
  });
}
