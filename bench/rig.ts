// Four throwaway sshd machines, two routes to them (direct, and with a 50 ms round trip), and the contenders.

import { join } from "node:path";
import { type Relay, startRelay } from "../test/rig/relay.js";
import { startSshd, type TestHost } from "../test/rig/sshd.js";
import { makeWorkspace, type Workspace } from "../test/rig/workspace.js";
import { take } from "./call.js";
import { putAside } from "./put-aside.js";
import type { Contender } from "./rounds.js";
import { endShared, makeRoute, type Route, SLOTS, saveKnownHosts } from "./routes.js";

const NAMES = ["one", "two", "three", "four"];
const ROUND_TRIP_MS = 50;
/** So little that only max_jobs limits the slots. */
export const LIGHT = ["--no-gpu-required", "--memory-required", "10", "--num-cpus", "0.1"];

export interface Rig {
  /** The built command. */
  readonly program: string;
  readonly hosts: readonly TestHost[];
  readonly near: Route;
  /** As `near`, but through a relay like the far route: the relay's processor time is not latency. */
  readonly passed: Route;
  /** With a round trip of 50 ms. */
  readonly far: Route;
  /** HOME of every command; its known_hosts has all machines. */
  readonly home: Workspace;
  /** The output of the last command. */
  readonly stdout: string;
  /** The batch `jobs.sh` in `dir`, each time like a first run, unless it `keepsTrees`. */
  ours(dir: string, options?: OurOptions): Contender;
  /** Any command line. */
  command(argv: readonly string[], options?: { cwd?: string; stdout?: string }): Contender;
  /** GNU parallel on all machines, with as many jobs at once as ours; ssh shares connections unless `isPlain`. */
  parallel(dir: string, args: readonly string[], options?: { route?: Route; isPlain?: boolean }): Contender;
  stop(): Promise<void>;
}

interface OurOptions {
  readonly route?: Route;
  readonly machines?: number;
  readonly args?: readonly string[];
  readonly keepsTrees?: boolean;
}

export async function startRig(program: string, signal: AbortSignal): Promise<Rig> {
  const started: { stop(): Promise<unknown> }[] = [];
  const stop = async () => {
    for (const each of started.reverse()) await each.stop();
  };
  const keep = <T extends { stop(): Promise<unknown> }>(one: T): T => {
    started.push(one);
    return one;
  };
  try {
    const home = await makeWorkspace();
    keep({ stop: home.remove });
    const hosts: TestHost[] = [];
    for (const name of NAMES) hosts.push(keep(await startSshd({ name })));
    const relayed = async (delayMs: number) => {
      const relays: Relay[] = [];
      for (const { port } of hosts) relays.push(keep(await startRelay(port, { delayMs })));
      return relays.map(({ port }) => port);
    };
    const ports = {
      near: hosts.map(({ port }) => port),
      passed: await relayed(0),
      far: await relayed(ROUND_TRIP_MS / 2),
    };
    await saveKnownHosts(home, hosts, Object.values(ports));
    const near = await makeRoute(home, hosts, "near", ports.near);
    const passed = await makeRoute(home, hosts, "passed", ports.passed);
    const far = await makeRoute(home, hosts, "far", ports.far);
    return makeContenders({ program, signal, home, hosts, near, passed, far, stop });
  } catch (error) {
    await stop();
    throw error;
  }
}

type Parts = Omit<Rig, "stdout" | "ours" | "command" | "parallel"> & { readonly signal: AbortSignal };

function makeContenders({ signal, ...rig }: Parts): Rig {
  const { program, hosts, home, near } = rig;
  const stdout = home.path("stdout");
  const stderr = home.path("stderr");
  const env = { PATH: process.env.PATH, HOME: home.dir, SHELL: "/bin/bash", TERM: "dumb", TMPDIR: home.dir };
  const command: Rig["command"] = (argv, { cwd = home.dir, stdout: into = stdout } = {}) => ({
    run: () => take({ argv, cwd, env, stdout: into, stderr, signal }),
  });
  const ours: Rig["ours"] = (dir, { route = near, machines = hosts.length, args = [], keepsTrees } = {}) => {
    const files = route.machineFiles.slice(0, machines);
    return {
      ...command([process.execPath, program, "jobs.sh", ...LIGHT, ...args, "--machines", ...files], {
        cwd: dir,
      }),
      async prepare() {
        await putAside(join(dir, "job_results"));
        if (keepsTrees) return;
        for (const { homeDir } of hosts) await putAside(join(homeDir, ".sshoal"));
      },
    };
  };
  const parallel: Rig["parallel"] = (dir, args, { route = near, isPlain = false } = {}) => {
    const config = isPlain ? route.plainConfig : route.sharingConfig;
    const logins = hosts.map(({ name }) => `${SLOTS}/${name}`).join(",");
    const words = ["parallel", "--will-cite", "--ssh", `ssh -F ${config}`, "--sshlogin", logins, ...args];
    return {
      ...command(words, { cwd: dir }),
      async prepare() {
        for (const { name } of hosts) endShared(route, name);
      },
    };
  };
  return { ...rig, stdout, command, ours, parallel };
}
