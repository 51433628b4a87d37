// What `sshoal mcp` can be asked for.

import { Command } from "commander";
import { withExamples, withNote } from "../help/examples.js";

export interface McpInvocation {
  readonly command: "mcp";
  readonly options: McpOptions;
}

export interface McpOptions {
  /** As typed; null: as the variable or a configuration file says. */
  readonly server: string | null;
}

const TOOLS = "probe, run, enqueue, status, why, logs, results, stop, retry. docs/agents.md describes them.";

const CLIENTS =
  "a client starts this command by itself, for instance with the command sshoal and the argument mcp.";

export function describeMcp(choose: (invocation: McpInvocation) => void): Command {
  const command = new Command("mcp")
    .summary("Offer tools to agents over stdin and stdout.")
    .description(
      "Offer tools to agents over stdin and stdout, by the Model Context Protocol. Jobs run on when it ends.",
    )
    .option(
      "--server <server>",
      "ask the queue service of user@host, through ssh, or that at tcp://host:port",
    );
  withNote(command, "Tools", TOOLS);
  withNote(command, "Clients", CLIENTS);
  return withExamples(command, [["Serve the tools until stdin ends", "sshoal mcp"]]).action(
    (raw: { server?: string }) => choose({ command: "mcp", options: { server: raw.server ?? null } }),
  );
}
