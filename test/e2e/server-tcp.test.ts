// `serve --listen` and `--server tcp://host:port`: the same API over TCP, for those who have the token.

import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { beforeEach, expect, test } from "vitest";
import { isRoot, remoteAccount } from "../rig/account.js";
import { useQueueService } from "../rig/queue-service.js";

const service = useQueueService();
const LONG_MS = 60_000;
let address: string;
let token: string;

beforeEach(async () => {
  const [line = ""] = await service.lines(["serve", "--listen", "localhost:0", "--json"]);
  const { listen, state } = JSON.parse(line);
  address = `tcp://${listen}`;
  token = `${state}/token`;
});

/** As another computer: without the state of this one. */
function elsewhere(args: readonly string[], env: Record<string, string> = {}) {
  return service.run([...args, "--server", address], {
    env: { XDG_STATE_HOME: service.work.path("none"), ...env },
  });
}

test(
  "the account of the service needs no option, and others name the file or set the variable",
  async () => {
    const words = ["enqueue", "--server", address, "--num-cpus", "0.01", "--tee", "--", "echo hello; exit 4"];
    const own = await service.run(words);
    expect({ code: own.code, stdout: own.stdout }).toEqual({ code: 4, stdout: "default/1\nhello\n" });
    const none = await elsewhere(["show"]);
    expect(none.code).toBe(2);
    expect(none.stderr).toContain(`${address} needs the token of its service`);
    expect(none.stderr).toContain("--token-file FILE, or SSHOAL_TOKEN");
    expect((await elsewhere(["show", "--token-file", token])).code).toBe(0);
    expect((await elsewhere(["show"], { SSHOAL_TOKEN: readFileSync(token, "utf8") })).code).toBe(0);
  },
  LONG_MS,
);

test(
  "a wrong token is refused, and so is a file that other accounts can read",
  async () => {
    expect(statSync(token).mode & 0o777).toBe(0o600);
    const wrong = await elsewhere(["show"], { SSHOAL_TOKEN: "x".repeat(43) });
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain(`the queue service at ${address} refuses the token`);
    const open = service.work.path("open");
    writeFileSync(open, readFileSync(token));
    chmodSync(open, 0o644);
    const readable = await elsewhere(["show", "--token-file", open]);
    expect(readable.stderr).toContain("other accounts can read the token in it");
    expect(readable.stderr).toContain(`chmod 600 ${open}`);
  },
  LONG_MS,
);

test.runIf(isRoot)(
  "another account of this computer cannot use the port without the token",
  () => {
    const { uid } = remoteAccount();
    const url = address.replace("tcp:", "http:");
    const answer = execFileSync("curl", ["-sS", "-m", "10", "-w", "%{http_code}", `${url}/v1/health`], {
      uid,
    });
    expect(answer.toString()).toMatch(/the request has no token.*401$/s);
    expect(() => execFileSync("cat", [token], { uid, stdio: "pipe" })).toThrow();
  },
  LONG_MS,
);

test(
  "a restarted service listens there again with the same token, and a client that waits goes on",
  async () => {
    const words = ["enqueue", "--server", address, "--num-cpus", "0.01", "--wait"];
    const waiting = service.spawn([...words, "--", "while [ ! -e go ]; do sleep 0.1; done; exit 6"]);
    await waiting.until(({ stdout }) => stdout().includes("default/1"));
    const before = readFileSync(token, "utf8");
    const restarted = await service.run(["serve", "restart"]);
    expect(restarted.stdout).toContain(`it also listens at ${address.slice("tcp://".length)}`);
    expect(readFileSync(token, "utf8")).toBe(before);
    await service.work.write("go", "");
    expect((await waiting.ended).code).toBe(6);
  },
  LONG_MS,
);

test(
  "a service that listens elsewhere says how to change that, and a taken port is named",
  async () => {
    const other = await service.run(["serve", "--listen", "localhost:1"]);
    expect(other.code).toBe(2);
    expect(other.stderr).toContain("sshoal serve restart --listen localhost:1");
    const port = address.split(":").at(-1);
    const state = { XDG_STATE_HOME: service.work.path("second") };
    const taken = await service.run(["serve", "--listen", `localhost:${port}`], { env: state });
    expect(taken.stderr).toContain("another program listens there");
  },
  LONG_MS,
);

test(
  "a port beyond loopback comes with a warning, and nothing else at the port is no service",
  async () => {
    const restarted = await service.run(["serve", "restart", "--listen", "0.0.0.0:0"]);
    expect(restarted.code).toBe(0);
    expect(restarted.stderr).toContain("not encrypted");
    const gone = await elsewhere(["show", "--token-file", token]);
    expect(gone.code).toBe(2);
    expect(gone.stderr).toContain("cannot be reached: the connection is refused");
  },
  LONG_MS,
);

test(
  "connections that show no token are limited, and those with the token are not",
  async () => {
    const port = Number(address.split(":").at(-1));
    const strangers = Array.from({ length: 80 }, () =>
      connect({ port, host: "localhost" }).on("error", () => {}),
    );
    const closed = await Promise.race(
      strangers.map((socket) => new Promise((resolve) => socket.once("close", () => resolve(true)))),
    );
    expect(closed).toBe(true);
    for (const socket of strangers) socket.destroy();
    expect((await service.run(["show", "--server", address])).code).toBe(0);
  },
  LONG_MS,
);
