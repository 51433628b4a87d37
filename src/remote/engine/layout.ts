// The paths of a batch's files on a machine. They contain the host's name, because several hosts can share a home.

import type { MachineSpec } from "../../model/machine.js";
import { quote } from "../../transport/quote.js";
import { runtimeFile } from "../runtime-files.js";

export interface Place {
  readonly batch: string;
  /** The machine file's `scratch:`; null: the home directory. */
  readonly scratch: string | null;
}

/** The location of a batch's jobs on a machine: in a spool of an older version, or in the batch's own. */
export function placeOf(batch: string, { scratch, spool }: Pick<MachineSpec, "scratch" | "spool">): Place {
  return { batch: spool?.batch ?? batch, scratch };
}

/**
 * sh text that sets $base (shared by all batches), $root (sshoal's files) and $spool (this batch), and keeps new files
 * private. It ends the script if another account could change these directories.
 */
export function prelude({ batch, scratch }: Place): string {
  return `${rootPrelude(scratch)}spool=$root/batches/${quote(batch)}@$host\ncheck_own || exit 1\n`;
}

/** sh text that goes first: saves the settings that later lines change, so that jobs get them as at any login. */
export const NOTE_LOGIN = "login_umask=$(umask)\nlogin_locale=$LC_ALL\n";

/** The same for scripts of no particular batch, without the check. */
export function rootPrelude(scratch: Place["scratch"]): string {
  return [
    "umask 077",
    "export LC_ALL=C",
    "base=$HOME/.sshoal",
    scratch === null ? "root=$base" : `root=${underHome(scratch)}/.sshoal`,
    "read -r host </proc/sys/kernel/hostname",
    `${runtimeFile("own.sh")}resolve_root`,
    "",
  ].join("\n");
}

function underHome(path: string): string {
  if (path === "~") return "$HOME";
  return path.startsWith("~/") ? `$HOME/${quote(path.slice(2))}` : quote(path.replace(/\/+$/, ""));
}
