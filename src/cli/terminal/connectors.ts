// Connectors for a command: questions are asked on the terminal in which it was typed.

import {
  type Connector,
  type LastingConnector,
  openConnector,
  type Suspendable,
} from "../../batch/connector.js";
import type { Surroundings } from "../../batch/surroundings.js";
import type { SshOptions } from "../options/ssh-options.js";
import { createPrompt } from "./prompt.js";

interface Connecting extends SshOptions {
  /** A program reads the answers: it is never asked anything, also where there is a terminal. */
  readonly isJson: boolean;
}

/** For a command that only looks. */
export function connector(
  surroundings: Surroundings,
  options: Connecting,
  onNote: (message: string) => void,
): Connector {
  return lastingConnector(surroundings, options, onNote).connect;
}

/** `mayAsk`: stdin is not used for anything else. */
export function lastingConnector(
  surroundings: Surroundings,
  { hostKeys, isJson }: Connecting,
  onNote: (message: string) => void,
  mayAsk = true,
): LastingConnector {
  const { stdin, stderr } = process;
  const createAsk = mayAsk && !isJson ? (view: Suspendable) => createPrompt({ stdin, stderr, view }) : null;
  return openConnector({ surroundings, hostKeys, onNote, createAsk });
}
