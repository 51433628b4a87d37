// What every command that connects can be asked for: which machines, by which ssh configuration, trusting which keys.

import { type Command, Option } from "commander";
import type { MachineChoice } from "../../batch/surroundings.js";
import { UserError } from "../../errors.js";
import type { HostKeyPolicy } from "../../transport/config/target.js";

export interface SshOptions {
  /** Null: as the ssh configuration says. */
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

/** `without`: what it means when none is named, in brackets. */
export function describeChoice(command: Command, without: string): Command {
  return command
    .option(
      "--machines <machines...>",
      `use these machines: machine files, ssh aliases or user@host:port (${without})`,
    )
    .option("-F <file>", "use this ssh configuration instead of ~/.ssh/config");
}

export function resolveSsh(raw: RawSsh): SshOptions {
  return { hostKeys: raw.hostKeys ?? null };
}

export function resolveChoice({ machines = [], F }: RawChoice): MachineChoice {
  if (F !== undefined && machines.length === 0) {
    throw new UserError("-F has no meaning without --machines", {
      hint: `add --machines and a name that ${F} has`,
    });
  }
  return { machines, configFile: F ?? null };
}
