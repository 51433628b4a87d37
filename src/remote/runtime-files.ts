// The POSIX sh, and a little bash, that runs over there: real files beside this one, copied next to the bundle by the build.

import { readFileSync } from "node:fs";

/** What a spool's processes run. */
export const SPOOL_SCRIPTS = ["own.sh", "lib.sh", "slot.sh", "fork.bash", "kinds.sh", "begin.sh"] as const;

export type RuntimeFile =
  | (typeof SPOOL_SCRIPTS)[number]
  | "control.sh"
  | "probe.sh"
  | "stage.sh"
  | "hand-over.sh"
  | "clean.sh"
  | "left-over.sh"
  | "logout.sh"
  | "doctor.sh";

export function runtimeFile(name: RuntimeFile): string {
  return readFileSync(new URL(`./runtime/${name}`, import.meta.url), "utf8");
}
