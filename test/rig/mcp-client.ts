// A client of `sshoal mcp` for tests: sends requests as lines, and matches answers to them.

import type { JsonEvent } from "./batch.js";
import { type CommandResult, type LiveCommand, spawnCommand } from "./command.js";

export interface McpRig {
  readonly command: LiveCommand;
  /** Notifications that came so far. */
  readonly notices: readonly JsonEvent[];
  /** The whole answer, with `result` or `error`. */
  ask(method: string, params?: object): Promise<JsonEvent>;
  /** Does not wait for the answer, and returns its id. */
  send(method: string, params: object): number;
  notify(method: string, params?: object): void;
  raw(text: string): void;
  /** What a tool answers, read from its JSON; throws if it is an error. */
  call(tool: string, args?: object): Promise<JsonEvent>;
  /** The text of an error of a tool. */
  fail(tool: string, args?: object): Promise<string>;
  /** All that came on stdout, line by line. */
  lines(): string[];
  /** Ends stdin, and waits for the end of the process. */
  end(): Promise<CommandResult>;
}

export interface McpPlace {
  readonly cwd: string;
  readonly home: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Begins with the greeting of the protocol. */
export async function startMcp(place: McpPlace, options: readonly string[] = []): Promise<McpRig> {
  const command = spawnCommand(["mcp", ...options], { program: "sshoal", ...place });
  const rig = makeMcp(command);
  await rig.ask("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  });
  rig.notify("notifications/initialized");
  return rig;
}

function makeMcp(command: LiveCommand): McpRig {
  const { child } = command;
  const waiting = new Map<number, (answer: JsonEvent) => void>();
  const notices: JsonEvent[] = [];
  let count = 0;
  let rest = "";
  child.stdout.on("data", (chunk) => {
    const lines = `${rest}${chunk}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const message = JSON.parse(line) as JsonEvent;
      const answer = waiting.get(message.id as number);
      waiting.delete(message.id as number);
      if (answer === undefined) notices.push(message);
      else answer(message);
    }
  });
  const write = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const rig: McpRig = {
    command,
    notices,
    ask(method, params = {}) {
      count += 1;
      const id = count;
      const answer = new Promise<JsonEvent>((resolve) => waiting.set(id, resolve));
      const early = command.ended.then(({ code, stderr }): never => {
        throw new Error(`mcp ended with ${code} before it answered ${method}: ${stderr}`);
      });
      write({ id, method, params });
      return Promise.race([answer, early]);
    },
    send(method, params) {
      count += 1;
      write({ id: count, method, params });
      return count;
    },
    notify: (method, params = {}) => void write({ method, params }),
    raw: (text) => void child.stdin.write(text),
    async call(tool, args = {}) {
      const { result, error } = await rig.ask("tools/call", { name: tool, arguments: args });
      const text = result?.content?.[0]?.text;
      if (text === undefined || result.isError) throw new Error(`${tool}: ${text ?? JSON.stringify(error)}`);
      return JSON.parse(text);
    },
    async fail(tool, args = {}) {
      const { result } = await rig.ask("tools/call", { name: tool, arguments: args });
      if (result?.isError !== true) throw new Error(`${tool} is no error: ${JSON.stringify(result)}`);
      return result.content[0].text;
    },
    lines: () =>
      command
        .stdout()
        .split("\n")
        .filter((line) => line !== ""),
    end() {
      child.stdin.end();
      return command.ended;
    },
  };
  return rig;
}
