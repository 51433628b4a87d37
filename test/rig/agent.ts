// A real ssh-agent for one test, ended by its pid.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface TestAgent {
  readonly socket: string;
  /** `ssh-add`, with these options; a certificate beside the key is added, too. */
  add(path: string, passphrase?: string, options?: readonly string[]): void;
  /** Removes all keys. */
  clear(): void;
  stop(): void;
}

export async function startAgent(dir: string): Promise<TestAgent> {
  const socket = join(dir, "agent.sock");
  const askpass = join(dir, "askpass");
  writeFileSync(askpass, '#!/bin/sh\necho "$PASSPHRASE"\n');
  chmodSync(askpass, 0o755);
  const child = spawn("ssh-agent", ["-D", "-a", socket], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  const sshAdd = (args: readonly string[], passphrase = "") =>
    execFileSync("ssh-add", ["-q", ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        SSH_AUTH_SOCK: socket,
        SSH_ASKPASS: askpass,
        SSH_ASKPASS_REQUIRE: "force",
        PASSPHRASE: passphrase,
      },
    });
  return {
    socket,
    add: (path, passphrase, options = []) => void sshAdd([...options, path], passphrase),
    clear: () => void sshAdd(["-D"]),
    stop: () => void child.kill(),
  };
}
