// The options of every command that connects: which machines, which ssh configuration, which host keys to trust.

import { type Command, Option } from "commander";
import type { MachineChoice } from "../../batch/surroundings.js";
import { UserError } from "../../errors.js";
import type { HostKeyPolicy } from "../../transport/config/target.js";

export interface SshOptions {
  /** Null: the ssh configuration decides. */
  readonly hostKeys: HostKeyPolicy | null;
}

export interface RawSsh {
  readonly hostKeys?: HostKeyPolicy;
}

export interface RawChoice {
  readonly machines?: string[];
  readonly F?: string;
}

export function describeSsh(command: Command): Command {
  const policies: readonly HostKeyPolicy[] = ["strict", "accept-new"];
  return command.addOption(
    new Option("--host-keys <policy>", "trust known hosts only, or also new ones").choices(policies),
  );
}

/** `without`: what happens if none is named. */
export function describeChoice(command: Command, without: string): Command {
  return command
    .option(
      "--machines <names...>",
      `use these machines: machine files, ssh aliases or user@host:port; ${without}`,
    )
    .option("-F <file>", "use this ssh configuration instead of ~/.ssh/config");
}

export function resolveSsh(raw: RawSsh): SshOptions {
  return { hostKeys: raw.hostKeys ?? null };
}

export function resolveChoice({ machines = [], F }: RawChoice): MachineChoice {
  if (F !== undefined && machines.length === 0) {
    throw new UserError("-F has no effect without --machines", {
      hint: `add --machines and a name that ${F} has`,
    });
  }
  return { machines, configFile: F ?? null };
}
