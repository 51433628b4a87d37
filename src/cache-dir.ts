import { join } from "node:path";
import { readHomeDir } from "./account.js";

/** What is kept there only saves time. */
export function cacheDir(): string {
  return join(process.env.XDG_CACHE_HOME || join(readHomeDir(), ".cache"), "sshoal");
}
