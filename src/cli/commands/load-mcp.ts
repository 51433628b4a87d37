// Loads the tools for agents, with the SDK that they need. The build replaces this module: there they are a file of their own.

import type { serveMcp } from "../../mcp/serve-mcp.js";

export async function loadMcp(): Promise<{ readonly serveMcp: typeof serveMcp }> {
  return import("../../mcp/serve-mcp.js");
}
