// Machines that join a service on another computer: through ssh, and over TCP with a token. Their links are cut.

import { chmodSync, copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { waitFor } from "../rig/batch.js";
import type { LiveCommand } from "../rig/command.js";
import { useFarService } from "../rig/far-service.js";
import { killAll, pidsWithHome } from "../rig/processes.js";
import { type Relay, startRelay } from "../rig/relay.js";
import { until } from "../rig/until.js";

const LONG_MS = 60_000;

function said(command: LiveCommand, line: string): Promise<void> {
  return command.until(() =>
    command
      .stdout()
      .split("\n")
      .some((each) => each.startsWith(line)),
  );
}

/** Jobs run on the computer that joins, whose home is here. */
async function endAll(homeDir: string): Promise<void> {
  await until("all processes of the machine have ended", () => {
    const pids = pidsWithHome(homeDir);
    killAll(pids);
    return pids.length === 0;
  });
}

describe("through ssh", () => {
  const far = useFarService({}, ["--no-local"]);
  afterEach(() => endAll(far.home.dir));

  test(
    "a job runs on the machine that has joined, goes on while ssh is cut, and its output comes back",
    async () => {
      const joined = far.spawn(["join", far.server, "--name", "laptop"]);
      await said(joined, "joined: laptop; queue default");
      const command = `touch ~/begun; ${waitFor("$HOME/go").replaceAll("'", '"')}; echo done at $HOME; exit 5`;
      const name = await far.add([], command);
      await until("it has begun", () => existsSync(far.home.path("begun")));
      far.relay.refuse();
      far.relay.cut();
      await said(joined, "lost the link: ");
      await far.home.write("go", "");
      far.relay.accept();
      await said(joined, "back: laptop");
      const job = await until("it is over", async () => {
        const found = await far.job(name);
        return found.state === "failed" && found.isHere ? found : null;
      });
      expect(job.outcome).toEqual({ kind: "exited", code: 5 });
      const { stdout } = await far.run(["logs", "--out", "--server", far.server, name]);
      expect(stdout).toBe(`done at ${far.home.dir}\n`);
      // Half open: nothing arrives, and ssh has not noticed it. The inner link has, and a new connection is made.
      far.relay.pause();
      await joined.until(() => joined.stdout().split("lost the link: ").length === 3);
      far.relay.resume();
      await joined.until(() => joined.stdout().split("back: laptop").length === 3);
      joined.child.kill("SIGINT");
      expect((await joined.ended).code).toBe(0);
    },
    LONG_MS,
  );
});

describe("through ssh, while the service restarts", () => {
  const far = useFarService({}, ["--no-local"]);
  afterEach(() => endAll(far.home.dir));

  test(
    "a machine that has just joined comes back by itself, also past a stale socket, and its job goes on",
    async () => {
      const joined = far.spawn(["join", far.server, "--name", "laptop"]);
      await said(joined, "joined: laptop");
      // Its first connections are still ready, and lead to the service that is killed.
      await far.killService();
      await said(joined, "lost the link: ");
      expect((await far.there(["serve", "--no-local"])).code).toBe(0);
      await said(joined, "back: laptop");
      const command = `touch ~/begun; ${waitFor("$HOME/go").replaceAll("'", '"')}; exit 6`;
      const name = await far.add([], command);
      await until("it has begun", () => existsSync(far.home.path("begun")), LONG_MS);
      expect((await far.there(["serve", "restart", "--no-local"])).code).toBe(0);
      await joined.until(() => joined.stdout().split("back: laptop").length === 3);
      await far.home.write("go", "");
      const job = await until("it is over", async () => {
        const found = await far.job(name);
        return found.state === "failed" ? found : null;
      });
      expect(job.outcome).toEqual({ kind: "exited", code: 6 });
    },
    LONG_MS,
  );
});

describe("over TCP", () => {
  const far = useFarService({}, ["--no-local", "--listen", "127.0.0.1:0"]);
  let link: Relay;
  let token: string;
  beforeEach(async () => {
    const about = JSON.parse((await far.there(["serve", "status", "--json"])).stdout);
    link = await startRelay(Number(about.listen.split(":").at(-1)));
    token = far.home.path("token");
    copyFileSync(`${about.state}/token`, token);
    chmodSync(token, 0o600);
  });
  afterEach(async () => {
    await endAll(far.home.dir);
    await link.stop();
  });

  test(
    "the token lets a machine join, and it comes back after a cut; a wrong one is refused at once",
    async () => {
      const place = `tcp://127.0.0.1:${link.port}`;
      const joined = far.spawn(["join", place, "--token-file", token, "--name", "box"]);
      await said(joined, "joined: box");
      link.cut();
      await said(joined, "back: box");
      const name = await far.add([], "echo $HOME");
      await until("it is here", async () => (await far.job(name)).isHere, LONG_MS);
      const { stdout } = await far.run(["logs", "--out", "--server", far.server, name]);
      expect(stdout).toBe(`${far.home.dir}\n`);
      const wrong = readFileSync(token, "utf8")
        .trim()
        .replace(/^./, (letter) => (letter === "A" ? "B" : "A"));
      writeFileSync(token, `${wrong}\n`);
      const refused = await far.run(["join", place, "--token-file", token, "--name", "other"]);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("refuses the token")]);
      const none = await far.run(["join", place]);
      expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("needs the token")]);
    },
    LONG_MS,
  );
});
