// A throwaway OpenSSH server on a free loopback port, with its own home, keys and PATH: one machine of a test.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { basename, join } from "node:path";
import { giveToRemote, isRoot, remoteAccount, takeFromRemote } from "./account.js";
import { descendantsOf, killAll, nameOf, pidsWithHome, signalAll } from "./processes.js";
import { makeWorkspace } from "./workspace.js";

export interface SshdOptions {
  readonly name?: string;
  /** Additional lines of sshd_config. They come first, and the first mention of a keyword counts. */
  readonly config?: readonly string[];
  /** Directories with stand-in programs, before the usual PATH; the host's own `bin` is before these. */
  readonly path?: readonly string[];
  /** The shell that runs the commands, such as `fish`. Absent: the account's own shell. */
  readonly loginShell?: string;
  /**
   * The account that may log in; absent: the plain one. With `loginShell`, root's sessions can become any other
   * account's.
   */
  readonly username?: string;
  /** Further variables of every session; values without spaces. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface TestHost {
  readonly name: string;
  readonly port: number;
  readonly username: string;
  /** Everything of this host. */
  readonly dir: string;
  readonly homeDir: string;
  /** First on its PATH, for stand-in programs. */
  readonly binDir: string;
  /** The user key that is accepted. */
  readonly keyPath: string;
  /** Writes a machine file, `<name>.yaml`, with `extra` lines, and returns its path. `via`: a relay in front of it. */
  machineFile(extra?: string, via?: { readonly port: number }): Promise<string>;
  /** The processes that run on it, detached or not; without sshd itself. */
  pids(): number[];
  /** The messages of sshd since its last start. */
  log(): string;
  /** Ends sshd and its connections, but no detached processes; no process listens on the port until start(). */
  halt(): Promise<void>;
  /** Starts again, on the same port and with the same keys. */
  start(): Promise<void>;
  /** Ends sshd and everything that runs on it. */
  stop(): Promise<void>;
}

/** The transport that machine files set; undefined: they set none. */
export const TRANSPORT = process.env.SSHOAL_TEST_TRANSPORT;

const SSHD = "/usr/sbin/sshd";

export async function startSshd(options: SshdOptions = {}): Promise<TestHost> {
  if (!existsSync(SSHD))
    throw new Error(`${SSHD} is missing, and these tests need it: apt install openssh-server`);
  const { dir, remove } = await makeWorkspace();
  const [homeDir, binDir, keyPath] = [join(dir, "home"), join(dir, "bin"), join(dir, "user_key")];
  await Promise.all([mkdir(homeDir), mkdir(binDir), mkdir(join(dir, "claims"))]);
  await chmod(join(dir, "claims"), 0o1777);
  if (options.username === undefined) giveToRemote(homeDir);
  else takeFromRemote(dir);
  makeKey(join(dir, "host_key"));
  makeKey(keyPath);
  await writeFile(join(dir, "authorized_keys"), await readFile(`${keyPath}.pub`));
  if (isRoot) await mkdir("/run/sshd", { recursive: true, mode: 0o755 });
  const config = formatConfig(dir, options);
  let server = await listen(dir, config);
  const { port } = server;
  const username = options.username ?? remoteAccount().name;
  const name = options.name ?? "host";
  const halt = async () => {
    const { child } = server;
    const ended = new Promise((resolve) => child.once("close", resolve));
    killAll(stopAll(child.pid as number));
    if (child.exitCode === null && child.signalCode === null) await ended;
  };
  return {
    name,
    port,
    username,
    dir,
    homeDir,
    binDir,
    keyPath,
    halt,
    log: () => server.log(),
    async machineFile(extra = "", via = { port }) {
      const file = join(dir, `${name}.yaml`);
      const spec = { username, ip: "127.0.0.1", port: via.port, ssh_key_path: keyPath };
      const way = TRANSPORT === undefined ? {} : { transport: TRANSPORT };
      const lines = Object.entries({ ...spec, ...way }).map(([key, value]) => `${key}: ${value}`);
      await writeFile(file, `${[...lines, extra].join("\n")}\n`);
      return file;
    },
    pids: () => pidsWithHome(homeDir),
    async start() {
      server = await listen(dir, config, port);
    },
    async stop() {
      await halt();
      killAll(pidsWithHome(homeDir));
      await remove();
    },
  };
}

/** The server and its connections. They are stopped first, so that none can start another one unnoticed. */
function stopAll(server: number): number[] {
  for (let known = -1; ; ) {
    const pids = [server, ...descendantsOf(server).filter((pid) => nameOf(pid).startsWith("sshd"))];
    if (pids.length === known) return pids;
    signalAll(pids, "SIGSTOP");
    known = pids.length;
  }
}

export function makeKey(
  path: string,
  options: { type?: string; passphrase?: string; format?: string } = {},
): void {
  const { type = "ed25519", passphrase = "", format = "RFC4716" } = options;
  const kind = ["-t", type, "-m", format];
  execFileSync("ssh-keygen", ["-q", ...kind, "-N", passphrase, "-C", "test", "-f", path]);
}

function formatConfig(dir: string, options: SshdOptions): string {
  const path = [join(dir, "bin"), ...(options.path ?? []), "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"];
  const { loginShell } = options;
  const shell = loginShell === undefined ? {} : { SHELL: `/bin/${loginShell.split(" ")[0]}` };
  // A machine of its own, beside other hosts of the same account.
  const claims = { SSHOAL_CLAIMS: join(dir, "claims") };
  const env = { HOME: join(dir, "home"), PATH: path.join(":"), ...claims, ...shell, ...options.env };
  // Of several SetEnv lines only the first counts.
  const assignments = Object.entries(env).map(([key, value]) => `${key}=${value}`);
  return [
    ...(options.config ?? []),
    ...(isOwnShell(loginShell) ? [] : [`ForceCommand exec ${loginShell} -c "$SSH_ORIGINAL_COMMAND"`]),
    `SetEnv ${assignments.join(" ")}`,
    "ListenAddress 127.0.0.1",
    `HostKey ${join(dir, "host_key")}`,
    `AuthorizedKeysFile ${join(dir, "authorized_keys")}`,
    `PidFile ${join(dir, "sshd.pid")}`,
    "StrictModes no",
    "UsePAM no",
    "PasswordAuthentication no",
    "KbdInteractiveAuthentication no",
    "",
  ].join("\n");
}

/** A shell that reads its start-up files must not be started by another one that also reads them. */
function isOwnShell(loginShell: string | undefined): boolean {
  return loginShell === undefined || loginShell === basename(remoteAccount().shell);
}

interface Listening {
  readonly child: ChildProcess;
  readonly port: number;
  readonly log: () => string;
}

/** Another process may take the port between finding it and using it: then another port is tried. */
async function listen(dir: string, config: string, oldPort?: number): Promise<Listening> {
  for (let tries = 1; ; tries++) {
    const port = oldPort ?? (await freePort());
    await writeFile(join(dir, "sshd_config"), `${config}Port ${port}\n`);
    const child = spawn(SSHD, ["-D", "-e", "-f", join(dir, "sshd_config")], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    let text = "";
    const isListening = await new Promise<boolean>((resolve) => {
      child.stderr.on("data", (chunk) => {
        text += chunk;
        if (text.includes("Server listening on")) resolve(true);
      });
      child.once("close", () => resolve(false));
    });
    if (isListening) return { child, port, log: () => text };
    if (tries === 10 || !text.includes("Address already in use"))
      throw new Error(`sshd did not start:\n${text}`);
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
