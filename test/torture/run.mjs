// node test/torture/run.mjs [seed] [rounds] [jobs per round]

import { fileURLToPath } from "node:url";
import { runAlone } from "../rig/run-alone.mjs";

await runAlone(fileURLToPath(new URL("main.ts", import.meta.url)), process.argv.slice(2));
