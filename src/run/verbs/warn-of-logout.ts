// Warns about a machine that kills jobs at logout, before anything is handed over.

import type { Capacity } from "../../model/machine.js";

/** Null: jobs continue after a logout. */
export function warnOfLogout(machine: string, { logout }: Capacity): string | null {
  if (logout === undefined || logout === "scope") return null;
  const what = `${machine}: systemd kills jobs at logout (KillUserProcesses=yes)`;
  if (logout === "no-linger")
    return `${what}; to keep them, type once on that machine: loginctl enable-linger`;
  return `${what}, and systemd-run --user does not work; for a fix, type: sshoal doctor --machines ${machine}`;
}
