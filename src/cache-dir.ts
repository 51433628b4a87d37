import { homedir } from "node:os";
import { join } from "node:path";

/** What is kept there only saves time. */
export function cacheDir(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "sshoal");
}
