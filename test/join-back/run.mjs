// node test/join-back/run.mjs [rounds]

import { fileURLToPath } from "node:url";
import { runAlone } from "../rig/run-alone.mjs";

await runAlone(fileURLToPath(new URL("main.ts", import.meta.url)), process.argv.slice(2));
