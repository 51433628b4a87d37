// Measures how long a machine that has joined takes to be back, from the moment when its link can work again: after a cut, after a
// silence in which nothing arrives, and after the service was killed. A job runs there all the time.

import { mkdirSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { hostname, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { runCommand, spawnCommand } from "../rig/command.js";
import { makeHome } from "../rig/own-home.js";
import { commandOf, killAll, pidsWithHome } from "../rig/processes.js";
import { type Relay, startRelay } from "../rig/relay.js";
import { until } from "../rig/until.js";
import type { Workspace } from "../rig/workspace.js";

/** Longer than the link is checked for. */
const SILENT_MS = 22_000;
const GOAL_MS = 5000;

/** Resolves with the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  const rounds = Number(argv[0] ?? 5);
  const [home, box] = await Promise.all([makeHome(), makeHome()]);
  mkdirSync(home.path("run"), { mode: 0o700 });
  try {
    return await measure(home, box, rounds);
  } finally {
    killAll([...pidsWithHome(home.dir), ...pidsWithHome(box.dir)]);
    await Promise.all([home.remove(), box.remove()]);
  }
}

async function measure(home: Workspace, box: Workspace, rounds: number): Promise<number> {
  const env = { XDG_RUNTIME_DIR: home.path("run") };
  const here = { cwd: home.dir, program: "sshoal", home: home.dir, env } as const;
  const note = () =>
    JSON.parse(
      readFileSync(
        home.path(`.local/state/sshoal/service@${hostname().replace(/[^\w.-]/g, "_")}.json`),
        "utf8",
      ),
    );
  const serve = async (port: string) => {
    const { code, stderr } = await runCommand(["serve", "--no-local", "--listen", `127.0.0.1:${port}`], here);
    if (code !== 0) throw new Error(stderr);
  };
  await serve("0");
  const port = note().listen.split(":").at(-1);
  const relay = await startRelay(Number(port));
  const words = [
    "join",
    `tcp://127.0.0.1:${relay.port}`,
    "--name",
    "box",
    "--token-file",
    `${note().state}/token`,
  ];
  const joined = spawnCommand(words, {
    cwd: box.dir,
    program: "sshoal",
    home: box.dir,
    deadlineMs: 3_600_000,
  });
  await joined.until(() => joined.stdout().includes("joined: box"));
  await home.write("input", "x\n");
  await runCommand(["enqueue", "--num-cpus", "0.01", "--", "sleep 3600"], here);
  const isBack = async () => (await phaseOf(note().socket)) === "ready";
  await until("the job runs", isBack);
  const kinds: Record<string, () => Promise<number>> = {
    cut: () => afterCut(relay, isBack),
    silence: () => afterSilence(relay, isBack),
    "service killed": async () => {
      const { pid } = note();
      process.kill(pid, "SIGKILL");
      await until("it is dead", () => commandOf(pid) === "");
      await serve(port);
      return timed(isBack);
    },
  };
  let worst = 0;
  for (const [kind, round] of Object.entries(kinds)) {
    const times: number[] = [];
    for (let count = 0; count < rounds; count++) times.push(await round());
    worst = Math.max(worst, ...times);
    const [least = 0, ...others] = times.toSorted((one, other) => one - other);
    const middle = [least, ...others][Math.floor(times.length / 2)] ?? 0;
    console.log(
      `${kind}: ${times.map(Math.round).join(" ")} ms; middle ${Math.round(middle)}; load ${loadavg()[0]?.toFixed(1)}`,
    );
  }
  await relay.stop();
  return worst <= GOAL_MS ? 0 : 1;
}

/** For a random time, so that dialling is in any of its pauses when the link works again. */
async function afterCut(relay: Relay, isBack: () => Promise<boolean>): Promise<number> {
  relay.refuse();
  relay.cut();
  await until("the link is lost", async () => !(await isBack()));
  await sleep(1000 + Math.random() * 7000);
  relay.accept();
  return timed(isBack);
}

async function afterSilence(relay: Relay, isBack: () => Promise<boolean>): Promise<number> {
  relay.pause();
  await sleep(SILENT_MS + Math.random() * 4000);
  relay.resume();
  return timed(isBack);
}

async function timed(isBack: () => Promise<boolean>): Promise<number> {
  const from = performance.now();
  await until("the machine is back", isBack, 60_000);
  return performance.now() - from;
}

/** Of the machine in the service, which has it once the running job is followed again. */
function phaseOf(socketPath: string): Promise<string> {
  return new Promise((resolve) => {
    const asking = request({ socketPath, path: "/v1/machines", headers: { host: "localhost" } }, (answer) => {
      let text = "";
      answer.on("data", (chunk) => {
        text += chunk;
      });
      answer.once("end", () => resolve(JSON.parse(text).machines[0]?.phase ?? ""));
    });
    asking.once("error", () => resolve(""));
    asking.end();
  });
}
