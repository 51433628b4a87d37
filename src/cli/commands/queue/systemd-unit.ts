// The systemd unit that starts the queue service of an account.

export interface UnitFacts {
  /** The program with its arguments. */
  readonly command: readonly string[];
  /** Of the shell: where programs are, and where commands look for the service. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The service ends alone: jobs and slots of this computer run on in the cgroup of the unit. */
export function systemdUnit({ command, environment }: UnitFacts): string {
  return [
    "[Unit]",
    "Description=Queue service of sshoal",
    "",
    "[Service]",
    `ExecStart=${command.map((word) => quoted(word).replaceAll("$", "$$$$")).join(" ")}`,
    ...Object.entries(environment).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`),
    "KillMode=process",
    "Restart=on-failure",
    "",
    "[Install]",
    "WantedBy=default.target",
    "",
  ].join("\n");
}

function quoted(word: string): string {
  return `"${word.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%")}"`;
}
