// Makes one connection with our transport and runs `true` on it, in a separate process without a batch. Prints when our
// first line ran and when the connection was closed, counted from the start of the process.

import { homedir } from "node:os";

const begunMs = performance.now();
const [, , configFile = "", host = ""] = process.argv;
const { createConnect } = await import("../src/transport/connect.js");
const { runScript } = await import("../src/transport/script/run-script.js");
const connect = createConnect({
  homeDir: homedir(),
  agentSocket: process.env.SSH_AUTH_SOCK ?? null,
  onNote: console.error,
  hostKeys: null,
  ask: null,
});
const unsaid = { port: null, username: null, keyPath: null, transport: null };
const session = await connect({ kind: "ssh", host, configFile, ...unsaid });
const { end } = await runScript(session, "true");
await session.close();
const doneMs = performance.now();
const isDone = end.kind === "exited" && end.code === 0;
console.log(JSON.stringify({ begunMs, doneMs, isDone, transport: session.about.transport }));
