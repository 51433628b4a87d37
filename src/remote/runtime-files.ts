// The POSIX sh that runs over there: real files beside this one, copied next to the bundle by the build.

import { readFileSync } from "node:fs";

export type RuntimeFile =
  | "lib.sh"
  | "slot.sh"
  | "begin.sh"
  | "kinds.sh"
  | "control.sh"
  | "probe.sh"
  | "stage.sh"
  | "hand-over.sh"
  | "clean.sh"
  | "left-over.sh"
  | "doctor.sh";

export function runtimeFile(name: RuntimeFile): string {
  return readFileSync(new URL(`./runtime/${name}`, import.meta.url), "utf8");
}
