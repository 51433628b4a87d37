// The tools of `sshoal mcp`, in the order in which an agent needs them.

import type { Tool } from "./call/tool.js";
import { ENQUEUE } from "./tools/enqueue-tool.js";
import { LOGS } from "./tools/logs-tool.js";
import { PROBE } from "./tools/probe-tool.js";
import { RESULTS } from "./tools/results-tool.js";
import { RETRY } from "./tools/retry-tool.js";
import { RUN } from "./tools/run-tool.js";
import { STATUS } from "./tools/status-tool.js";
import { STOP } from "./tools/stop-tool.js";
import { WHY } from "./tools/why-tool.js";

export const TOOLS: readonly Tool[] = [PROBE, RUN, ENQUEUE, STATUS, WHY, LOGS, RESULTS, STOP, RETRY];
