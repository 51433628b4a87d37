// Where a batch's files are on a machine. The path carries the host's name, because several hosts can share a home.

import type { MachineSpec } from "../../model/machine.js";
import { quote } from "../../transport/quote.js";
import { runtimeFile } from "../runtime-files.js";

export interface Place {
  readonly batch: string;
  /** The machine file's `scratch:`; null: the home directory. */
  readonly scratch: string | null;
}

/** Where a machine has the jobs of a batch: in an older version's spool, or in that of the batch. */
export function placeOf(batch: string, { scratch, spool }: Pick<MachineSpec, "scratch" | "spool">): Place {
  return { batch: spool?.batch ?? batch, scratch };
}

/**
 * sh text that sets $base (where batches meet), $root (our files), $spool (this batch) and keeps all private. It ends the script
 * where another account could have its hands in these.
 */
export function prelude({ batch, scratch }: Place): string {
  return `${rootPrelude(scratch)}spool=$root/batches/${quote(batch)}@$host\ncheck_own || exit 1\n`;
}

/** sh text for before the others: what these change, and jobs are to have as at any login. */
export const NOTE_LOGIN = "login_umask=$(umask)\nlogin_locale=$LC_ALL\n";

/** The same for what is of no batch in particular, without the check. */
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
