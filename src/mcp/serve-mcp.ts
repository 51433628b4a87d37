// `sshoal mcp`: tools for agents, over stdin and stdout, by the Model Context Protocol. The build makes a file of its own of
// this, which no other command loads.

import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from "@modelcontextprotocol/sdk/types.js";
import { UserError } from "../errors.js";
import { suggest } from "../input/suggest.js";
import { VERSION } from "../model/version.js";
import { TOOLS } from "./all-tools.js";
import { answerText, errorText } from "./answer/answer-text.js";
import { BackgroundClients } from "./call/background-clients.js";
import type { Host } from "./call/host.js";
import { Seen } from "./call/seen.js";
import type { Call, Tool } from "./call/tool.js";

export interface McpOrder extends Pick<Host, "program" | "cwd" | "env"> {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  /** Messages for people. */
  readonly note: (message: string) => void;
}

const INSTRUCTIONS = `sshoal runs shell commands as jobs on this computer and on machines over ssh, when their resources are free.
1. probe shows what is free. 2. run starts a batch of commands at once, without any service; enqueue gives jobs to the queue service. 3. status with the cursor of its last answer shows what changed; waitSeconds waits for news. 4. logs shows output, why explains waiting, results has metrics. 5. stop and retry act on jobs.
Jobs outlive this server. Batches belong to a directory. Hints in errors name commands of sshoal; "sshoal attach X" is run with batch: "X".`;

/** Returns when stdin has ended. Jobs, and the clients that follow them, go on. */
export async function serveMcp({ stdin, stdout, note, ...place }: McpOrder): Promise<void> {
  const host: Host = { ...place, clients: new BackgroundClients(), seen: new Seen() };
  const server = new Server(
    { name: "sshoal", version: VERSION },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS.map(listed) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, sendNotification }) => {
    const progressToken = params._meta?.progressToken;
    let last = -1;
    const progress: Call["progress"] = (ended, all) => {
      if (progressToken === undefined || ended <= last) return;
      last = ended;
      const message = `${ended} of ${all} jobs have ended`;
      const said = { progressToken, progress: ended, total: all, message };
      void sendNotification({ method: "notifications/progress", params: said }).catch(() => {});
    };
    return callTool(params.name, params.arguments, { host, signal, progress }, note);
  });
  server.onerror = (error) => note(`this is no message of the protocol: ${firstLine(error.message)}`);
  await new Promise<void>((done, fail) => {
    stdin.once("end", done);
    stdin.once("close", done);
    stdout.once("error", () => done());
    server.onclose = done;
    server.connect(new StdioServerTransport(stdin, stdout)).catch(fail);
  });
  await server.close();
}

function listed({ name, about, inputSchema, annotations }: Tool) {
  return { name, description: about, inputSchema, annotations };
}

async function callTool(
  name: string,
  given: unknown,
  call: Call,
  note: (message: string) => void,
): Promise<CallToolResult> {
  const tool = TOOLS.find((each) => each.name === name);
  if (tool === undefined) throw unknownTool(name);
  try {
    return { content: [{ type: "text", text: answerText(await tool.call(given, call)) }] };
  } catch (error) {
    if (error instanceof UserError)
      return { content: [{ type: "text", text: errorText(error) }], isError: true };
    const stack = error instanceof Error ? error.stack : String(error);
    note(`sshoal has a bug, please report it with these lines:\n${stack}`);
    throw error;
  }
}

function unknownTool(name: string): McpError {
  const names = TOOLS.map((tool) => tool.name);
  const [nearest] = suggest(name, names);
  const hint = nearest === undefined ? `tools: ${names.join(", ")}` : `did you mean ${nearest}?`;
  return new McpError(
    ErrorCode.InvalidParams,
    `there is no tool ${JSON.stringify(name.slice(0, 80))}; ${hint}`,
  );
}

function firstLine(text: string): string {
  return (text.split("\n")[0] ?? "").slice(0, 200);
}
