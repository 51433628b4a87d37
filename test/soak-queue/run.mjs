// node test/soak-queue/run.mjs [rounds] [seed]

import { fileURLToPath } from "node:url";
import { runAlone } from "../rig/run-alone.mjs";

await runAlone(fileURLToPath(new URL("main.ts", import.meta.url)), process.argv.slice(2));
