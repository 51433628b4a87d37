// Makes the working directory known to `status --all` if batches were run in it, also by an older version.

import { rememberIfUsed } from "../../batch/find/known-directories.js";
import { readSurroundings } from "../read-surroundings.js";

export function rememberHere(): void {
  const surroundings = readSurroundings();
  rememberIfUsed(surroundings, surroundings.cwd);
}
