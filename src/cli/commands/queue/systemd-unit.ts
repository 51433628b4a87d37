// The systemd units of an account: one starts its queue service, another one joins a service.

import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { readHomeDir } from "../../../account.js";

export interface UnitFacts {
  /** The program with its arguments. */
  readonly command: readonly string[];
  /** Of the shell: where programs are, and where commands look for the service. */
  readonly environment: Readonly<Record<string, string>>;
  /** What it is, for people. */
  readonly description: string;
  /** Further lines about the service. */
  readonly more?: readonly string[];
}

/** The service ends alone: jobs and slots of this computer run on in the cgroup of the unit. */
export function systemdUnit({ command, environment, description, more = [] }: UnitFacts): string {
  return [
    "[Unit]",
    `Description=${description}`,
    "",
    "[Service]",
    `ExecStart=${command.map((word) => quoted(word).replaceAll("$", "$$$$")).join(" ")}`,
    ...Object.entries(environment).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`),
    "KillMode=process",
    "Restart=on-failure",
    ...more,
    "",
    "[Install]",
    "WantedBy=default.target",
    "",
  ].join("\n");
}

function quoted(word: string): string {
  return `"${word.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%")}"`;
}

/** Writes it, and returns what to type. `name`: without its ending. */
export function installUnit(name: string, facts: Omit<UnitFacts, "environment">): string {
  const asked = process.env.XDG_CONFIG_HOME ?? "";
  const above = path.isAbsolute(asked) ? asked : path.join(readHomeDir(), ".config");
  const dir = path.join(above, "systemd", "user");
  const unit = path.join(dir, `${name}.service`);
  mkdirSync(dir, { recursive: true });
  writeFileSync(unit, systemdUnit({ ...facts, environment: unitEnvironment() }));
  return [
    `wrote ${unit}`,
    "start it now, and at each login:",
    `  systemctl --user daemon-reload && systemctl --user enable --now ${name}`,
    "keep it running without a login:",
    "  loginctl enable-linger",
    "",
  ].join("\n");
}

/** What a login of systemd may not have, or have differently. */
function unitEnvironment(): Record<string, string> {
  const { PATH, XDG_STATE_HOME } = process.env;
  return { ...(PATH && { PATH }), ...(XDG_STATE_HOME && { XDG_STATE_HOME }) };
}
