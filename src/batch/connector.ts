// How a use case connects to machines: one connector per command.

import { type Connect, Fleet } from "../fleet/fleet.js";
import type { HostKeyPolicy } from "../transport/config/target.js";
import { createConnect } from "../transport/connect.js";
import type { ConnectOptions } from "../transport/connect-options.js";
import type { Ask } from "../transport/login/ask-person.js";
import type { Surroundings } from "./surroundings.js";

/** It only needs an address, of a machine file or of a record. */
export type Connector = Connect;

/** Draws on the terminal, and stops while a question is asked there. */
export interface Suspendable {
  suspend(): void;
  resume(): void;
}

export interface AskPerson extends Ask {
  /** Resolves with true if the answer was yes. */
  confirm(question: string): Promise<boolean>;
}

/** Gets notes about connections, and makes room for questions. */
interface Audience {
  onNote: (message: string) => void;
  /** Null: nothing draws on the terminal. */
  view: Suspendable | null;
}

/** For a command that looks first and then follows a batch: the audience changes, and no question is asked twice. */
export interface LastingConnector {
  /** A separate connection, for a look. */
  readonly connect: Connector;
  /** Connections that batches share. */
  readonly fleet: Fleet;
  readonly audience: Audience;
  /** Asks the person who started the command; null: there is no person to ask. */
  readonly confirm: AskPerson["confirm"] | null;
}

export interface Connecting {
  readonly surroundings: Surroundings;
  /** Null: the ssh configuration decides. */
  readonly hostKeys: HostKeyPolicy | null;
  readonly onNote: (message: string) => void;
  /** How to ask for a passphrase; null, here or as its result: never. */
  readonly createAsk: ((view: Suspendable) => AskPerson | null) | null;
  /** To machines that have joined the service. Absent: none has. */
  readonly connectJoined?: ConnectOptions["connectJoined"];
}

export function openConnector(connecting: Connecting): LastingConnector {
  const { surroundings, hostKeys, onNote, createAsk, connectJoined } = connecting;
  const { homeDir, agentSocket, cacheDir } = surroundings;
  const audience: Audience = { onNote, view: null };
  const view = { suspend: () => audience.view?.suspend(), resume: () => audience.view?.resume() };
  const ask = createAsk === null ? null : createAsk(view);
  const noteNow = (message: string) => audience.onNote(message);
  const options = { homeDir, agentSocket, cacheDir, hostKeys, ask, onNote: noteNow };
  const connectTo = createConnect({ ...options, ...(connectJoined && { connectJoined }) });
  const connect: Connector = ({ address }, signal) => connectTo(address, signal);
  return { audience, connect, fleet: new Fleet(connect), confirm: ask === null ? null : ask.confirm };
}
