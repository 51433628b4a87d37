// `sshoal mcp`: serves tools for agents until stdin ends.

import { ExitCode } from "../../errors.js";
import type { McpOptions } from "../options/mcp-options.js";
import { note } from "../terminal/note.js";
import { loadMcp } from "./load-mcp.js";

export async function mcp({ server }: McpOptions): Promise<ExitCode> {
  const { serveMcp } = await loadMcp();
  const [node = "", script = ""] = process.argv;
  const { stdin, stdout } = process;
  // The commands that the tools run find it there.
  const env = { ...process.env, ...(server !== null && { SSHOAL_SERVER: server }) };
  await serveMcp({ program: [node, script], cwd: process.cwd(), env, stdin, stdout, note });
  return ExitCode.Success;
}
