// The options of every command that connects: which machines, which ssh configuration, which host keys to trust.

import { type Command, Option } from "commander";
import type { MachineChoice } from "../../batch/surroundings.js";
import { UserError } from "../../errors.js";
import { expandGroups } from "../../input/config/expand-groups.js";
import type { Groups } from "../../input/config/machine-groups.js";
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
  /** Of a configuration file: it has no meaning without machines, which is no mistake. */
  readonly FByDefault?: string;
  readonly groups?: Groups;
}

export function describeSsh(command: Command): Command {
  const policies: readonly HostKeyPolicy[] = ["strict", "accept-new"];
  return command.addOption(
    new Option("--host-keys <policy>", "trust known hosts only, or also new ones").choices(policies),
  );
}

/** `without`: what it means when none is named, in brackets. */
export function describeChoice(command: Command, without: string): Command {
  return command
    .option(
      "--machines <machines...>",
      `use these machines: machine files, ssh aliases, user@host:port or @group (${without})`,
    )
    .option("-F <file>", "use this ssh configuration instead of ~/.ssh/config");
}

export function resolveSsh(raw: RawSsh): SshOptions {
  return { hostKeys: raw.hostKeys ?? null };
}

export function resolveChoice(raw: RawChoice): MachineChoice {
  const { F, FByDefault, groups = new Map() } = raw;
  const machines = expandGroups(raw.machines ?? [], groups);
  if (F !== undefined && machines.length === 0) {
    throw new UserError("-F has no effect without --machines", {
      hint: `add --machines and a name that ${F} has`,
    });
  }
  return { machines, configFile: F ?? FByDefault ?? null };
}
