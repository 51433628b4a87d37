// Asks OpenSSH for a machine's ssh configuration: `ssh -G` resolves Include, Match and wildcards.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { readAccount } from "../../account.js";
import { raceAbort } from "../aborted.js";
import { ConnectError, type SshAddress } from "../connect-error.js";
import { quoteIfNeeded } from "../quote.js";
import { keepDefaults, recallDefaults } from "./kept-defaults.js";
import { formTarget, parseSettings } from "./parse-ssh-config.js";
import type { Settings } from "./settings.js";
import { DEFAULTS_WITHOUT_SSH, loadSettingsWithoutSsh } from "./ssh-config-library.js";
import type { HostKeyPolicy, SshTarget } from "./target.js";

export interface ConfigOptions {
  readonly homeDir: string;
  readonly agentSocket: string | null;
  readonly hostKeys: HostKeyPolicy | null;
  readonly onNote: (message: string) => void;
  /** For what the program prints each time; null: nothing is kept. */
  readonly cacheDir?: string | null;
  /** `ssh`; tests name a program that does not exist. */
  readonly program?: string;
}

/** `jump`: the remaining hops of another host's ProxyJump; they replace this host's own. */
export type Resolve = (address: SshAddress, jump: string | null, signal?: AbortSignal) => Promise<SshTarget>;

export interface SshConfig {
  /** Rejects with a ConnectError of kind `config`, or with the signal's reason. */
  readonly resolve: Resolve;
  /** True if the system's ssh exists. */
  hasSsh(): Promise<boolean>;
}

/** Long, because Match may run programs, and names may be looked up. */
const ANSWER_WITHIN_MS = 20_000;

const GSSAPI = "gssapiauthentication";

/** Asks once per way of naming a machine. */
export function createSshConfig(options: ConfigOptions): SshConfig {
  const { program = "ssh", cacheDir = null } = options;
  const asked = new Map<string, Promise<SshTarget>>();
  const loadDefaults = once(() => loadDefaultsOf(program, cacheDir));
  const loadSystemGssapi = once(() => askSystemGssapi(program));
  const load = async (address: SshAddress, jump: string | null) => {
    const ownConfig = configWords(address, options.homeDir);
    const words = [...ownConfig, ...addressWords(address, jump)];
    const asking = Promise.all([loadDefaults(), run(program, words)]);
    if (ownConfig.length === 0) void loadSystemGssapi(); // most likely needed below
    const [usual, answer] = await asking;
    if (usual === null) {
      const settings = await loadSettingsWithoutSsh(address, jump, options);
      return formTarget(settings, circumstances(address, DEFAULTS_WITHOUT_SSH, options));
    }
    const settings = readAnswer(answer, address);
    const isGssapiUsual = settings.get(GSSAPI)?.[0] === usual.get(GSSAPI)?.[0];
    const gssapi = isGssapiUsual ? undefined : await loadSystemGssapi();
    const defaults = gssapi === undefined ? usual : new Map([...usual, [GSSAPI, gssapi]]);
    return formTarget(settings, circumstances(address, defaults, options));
  };
  return {
    hasSsh: async () => (await loadDefaults()) !== null,
    async resolve(address, jump, signal) {
      const key = JSON.stringify([address, jump]);
      const answer = asked.get(key) ?? load(address, jump);
      asked.set(key, answer);
      answer.catch(() => asked.delete(key));
      const abort = raceAbort(signal);
      return abort.race(answer).finally(abort.done);
    },
  };
}

/** OpenSSH looks for ~/.ssh/config in the account's home and ignores HOME. */
export function configWords({ configFile }: Pick<SshAddress, "configFile">, homeDir: string): string[] {
  if (configFile !== null) return ["-F", configFile];
  if (homeDir === readAccount().homeDir) return [];
  const own = join(homeDir, ".ssh", "config");
  return ["-F", existsSync(own) ? own : "none"];
}

function addressWords({ host, port, username }: SshAddress, jump: string | null): string[] {
  const words: string[] = [];
  if (port !== null) words.push("-p", String(port));
  if (username !== null) words.push("-l", username);
  if (jump !== null) words.push("-J", jump);
  return [...words, "--", host];
}

/** Null: there is no ssh, or it is not OpenSSH's. */
async function loadDefaultsOf(program: string, cacheDir: string | null): Promise<Settings | null> {
  const place = { program, cacheDir, now: Date.now() };
  const kept = recallDefaults(place);
  if (kept !== null) return parseSettings(kept);
  const { stdout, problem } = await run(program, ["-F", "none", "--", "localhost"]);
  if (problem !== null) return null;
  keepDefaults(place, stdout);
  return parseSettings(stdout);
}

/** Debian and Red Hat turn GSSAPI on by default. The user did not ask for it, and without a ticket it does nothing. */
async function askSystemGssapi(program: string): Promise<readonly string[] | undefined> {
  const { stdout } = await run(program, ["-F", "/etc/ssh/ssh_config", "--", "localhost"]);
  return parseSettings(stdout).get(GSSAPI);
}

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | null = null;
  return () => {
    answer ??= ask();
    return answer;
  };
}

function readAnswer({ line, stdout, problem }: Answer, { host }: SshAddress): Settings {
  if (problem === null) return parseSettings(stdout);
  throw new ConnectError("config", `${host}: ssh cannot use its configuration: ${problem}`, {
    hint: `correct it, then check it with: ${line}`,
  });
}

interface Answer {
  /** The command that was run, for pasting. */
  readonly line: string;
  readonly stdout: string;
  /** What ssh complained about; null: nothing. */
  readonly problem: string | null;
}

function run(program: string, words: readonly string[]): Promise<Answer> {
  const args = ["-G", ...words];
  const line = [program, ...args].map(quoteIfNeeded).join(" ");
  const options = { timeout: ANSWER_WITHIN_MS, maxBuffer: 1 << 20 };
  return new Promise((resolve) => {
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      resolve({ line, stdout, problem: error === null ? null : describe(stderr, error) });
    });
    child.stdin?.end();
  });
}

/** Skips the last line, which only counts the others. */
function describe(stderr: string, error: { killed?: boolean; message: string }): string {
  if (error.killed) return `no answer within ${ANSWER_WITHIN_MS / 1000} s`;
  const lines = stderr
    .split(/\r?\n/)
    .filter((line) => line !== "" && !/^Pseudo-terminal|: terminating,/.test(line));
  return lines.join("; ") || error.message;
}

function circumstances(address: SshAddress, defaults: Settings, options: ConfigOptions) {
  const { homeDir: accountHome, username: localUser } = readAccount();
  const { homeDir, agentSocket, hostKeys } = options;
  const env = process.env;
  return {
    address,
    defaults,
    homeDir,
    accountHome: accountHome ?? homeDir,
    agentSocket,
    hostKeys,
    localUser,
    localHost: hostname(),
    env,
  };
}
