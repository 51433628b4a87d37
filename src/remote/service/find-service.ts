// Looks for the queue service of the account on a machine, and connects to its socket.

import type { Duplex } from "node:stream";
import { quote } from "../../transport/quote.js";
import { runScript } from "../../transport/script/run-script.js";
import type { Session } from "../../transport/session.js";
import { runtimeFile } from "../runtime-files.js";
import { firstLine, joinStreams } from "./join-streams.js";

export type FoundNote =
  | { readonly kind: "found"; readonly text: string }
  | { readonly kind: "none" }
  /** Another account could have written it. */
  | { readonly kind: "foreign"; readonly path: string }
  | { readonly kind: "lost"; readonly reason: string }
  /** The script did not do its work. */
  | { readonly kind: "failed"; readonly reason: string };

const MOST_BYTES = 64 << 10;

/** The first script of a connection. */
export async function findNote(session: Session, signal?: AbortSignal): Promise<FoundNote> {
  const options = { readsNothing: true, maxBytes: MOST_BYTES, ...(signal && { signal }) };
  const { stdout, stderr, end } = await runScript(session, runtimeFile("find-service.sh"), options);
  if (end.kind === "lost") return { kind: "lost", reason: end.reason };
  const [first = "", ...rest] = stdout.split("\n");
  if (first === "found") return { kind: "found", text: rest.join("\n") };
  if (first === "none") return { kind: "none" };
  if (first.startsWith("foreign ")) return { kind: "foreign", path: first.slice("foreign ".length) };
  return { kind: "failed", reason: stderr.trim().split("\n").at(-1) || "it did not run the script" };
}

export type Bridged =
  | { readonly kind: "open"; readonly socket: Duplex }
  /** Nothing listens there. */
  | { readonly kind: "closed"; readonly reason: string }
  | { readonly kind: "lost"; readonly reason: string };

/** With a process on the machine. `node`: a program that runs the service; null: unknown. */
export async function bridgeTo(session: Session, socket: string, node: string | null): Promise<Bridged> {
  const settings = `node=${quote(node ?? "")}\nsocket=${quote(socket)}\n`;
  const running = await session.exec(settings + runtimeFile("bridge.sh"));
  running.stderr.resume();
  const { line, rest } = await firstLine(running.stdout);
  if (line === "open") return { kind: "open", socket: joinStreams(running, rest) };
  running.close();
  if (line?.startsWith("closed ")) return { kind: "closed", reason: line.slice("closed ".length) };
  const end = await running.ended;
  return { kind: "lost", reason: end.kind === "lost" ? end.reason : "the bridge ended early" };
}
