// `sshoal mcp`: serves tools for agents until stdin ends.

import { ExitCode } from "../../errors.js";
import { note } from "../terminal/note.js";
import { loadMcp } from "./load-mcp.js";

export async function mcp(): Promise<ExitCode> {
  const { serveMcp } = await loadMcp();
  const [node = "", script = ""] = process.argv;
  const { stdin, stdout, env } = process;
  await serveMcp({ program: [node, script], cwd: process.cwd(), env, stdin, stdout, note });
  return ExitCode.Success;
}
