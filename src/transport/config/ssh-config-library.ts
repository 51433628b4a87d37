// Reads the user's ssh configuration with a library if there is no ssh program. It does not follow Include, and
// supports less of Match than OpenSSH.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ConnectError, type SshAddress } from "../connect-error.js";
import { quoteIfNeeded } from "../quote.js";
import type { Settings } from "./settings.js";

export const DEFAULTS_WITHOUT_SSH: Settings = new Map([
  ["identityfile", ["~/.ssh/id_rsa", "~/.ssh/id_ecdsa", "~/.ssh/id_ed25519"]],
  ["userknownhostsfile", ["~/.ssh/known_hosts ~/.ssh/known_hosts2"]],
  ["globalknownhostsfile", ["/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2"]],
]);

/** In the form of `ssh -G`. */
export async function loadSettingsWithoutSsh(
  address: SshAddress,
  jump: string | null,
  options: { readonly homeDir: string; readonly onNote: (message: string) => void },
): Promise<Settings> {
  const file = address.configFile ?? join(options.homeDir, ".ssh", "config");
  const text = address.configFile === null && !existsSync(file) ? "" : await load(file, address);
  if (/^\s*include\b/im.test(text)) {
    options.onNote(`${file}: its Include is ignored, because this computer has no ssh program`);
  }
  const { default: SSHConfig } = await import("ssh-config");
  const { host: Host, username: User } = address;
  const config = SSHConfig.parse(text);
  const found = config.compute(User === null ? { Host } : { Host, User }, { ignoreCase: true });
  const written = Object.entries(found).map(
    ([keyword, value]) => [keyword, asPrinted(keyword, value)] as const,
  );
  return new Map([...DEFAULTS_WITHOUT_SSH, ...written, ...overrides(address, jump, found.hostname)]);
}

async function load(file: string, { host }: SshAddress): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new ConnectError(
      "config",
      `${host}: cannot read the ssh configuration: ${(error as Error).message}`,
      {
        hint: `ls -l ${quoteIfNeeded(file)}`,
        cause: error,
      },
    );
  }
}

function asPrinted(keyword: string, value: string | string[]): string[] {
  const values = [value].flat();
  return keyword === "identityfile" || keyword === "certificatefile" ? values : [values.join(" ")];
}

function overrides(
  { host, port, username }: SshAddress,
  jump: string | null,
  hostname: string | string[] | undefined,
): [string, string[]][] {
  const name = [hostname ?? host].flat().join(" ");
  const words: [string, string[]][] = [["hostname", [name.replaceAll("%h", host).replaceAll("%%", "%")]]];
  if (port !== null) words.push(["port", [String(port)]]);
  if (username !== null) words.push(["user", [username]]);
  if (jump !== null) words.push(["proxyjump", [jump]]);
  return words;
}
