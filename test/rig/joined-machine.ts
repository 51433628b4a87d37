// A machine that joins the service of a test: another home, another account if the tests run as root, no sshd. It reaches the
// service through a relay that can cut its link.

import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { afterEach } from "vitest";
import { giveToRemote, isRoot, remoteAccount } from "./account.js";
import { type LiveCommand, spawnCommand } from "./command.js";
import { killAll, pidsWithHome } from "./processes.js";
import type { QueueServiceRig } from "./queue-service.js";
import { type Relay, startSocketRelay } from "./relay.js";
import { until } from "./until.js";
import { makeWorkspace, type Workspace } from "./workspace.js";

export interface JoiningMachine {
  readonly home: Workspace;
  readonly link: Relay;
  /** `args`: behind `sshoal join`. */
  join(...args: readonly string[]): LiveCommand;
  /** Resolves when it has printed this line, or the beginning of it, so often. */
  said(command: LiveCommand, line: string, times?: number): Promise<void>;
}

/** Call it at the top of a test file; each call of its result makes a machine, which goes with the test. */
export function useJoiningMachines(service: QueueServiceRig): () => Promise<JoiningMachine> {
  const machines: JoiningMachine[] = [];
  afterEach(async () => {
    for (const { home, link } of machines.splice(0)) {
      await link.stop();
      await until("all processes of the machine have ended", () => {
        const pids = pidsWithHome(home.dir);
        killAll(pids);
        return pids.length === 0;
      });
      await home.remove();
    }
  });
  return async () => {
    const machine = await makeMachine(service);
    machines.push(machine);
    return machine;
  };
}

async function makeMachine(service: QueueServiceRig): Promise<JoiningMachine> {
  const home = await makeWorkspace();
  const link = await startSocketRelay(home.path("link.sock"), service.note().socket);
  writeNote(home, service);
  return {
    home,
    link,
    join: (...args) =>
      spawnCommand(["join", ...args], {
        cwd: home.dir,
        program: "sshoal",
        home: home.dir,
        ...(isRoot && { uid: remoteAccount().uid }),
      }),
    said: (command, line, times = 1) =>
      command.until(
        () =>
          command
            .stdout()
            .split("\n")
            .filter((each) => each.startsWith(line)).length >= times,
      ),
  };
}

/** What the service would have written for its own account. */
function writeNote(home: Workspace, service: QueueServiceRig): void {
  const dirs = [".local", ".local/state", ".local/state/sshoal"].map((each) => home.path(each));
  const file = home.path(`.local/state/sshoal/service@${hostname().replace(/[^\w.-]/g, "_")}.json`);
  for (const dir of dirs) mkdirSync(dir, { mode: 0o700 });
  writeFileSync(file, JSON.stringify({ ...service.note(), socket: home.path("link.sock") }));
  chmodSync(file, 0o600);
  for (const path of [...dirs, file]) giveToRemote(path);
}
