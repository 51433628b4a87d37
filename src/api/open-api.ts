// The HTTP API on a unix socket.

import { openApiSocket } from "./api-socket.js";
import { type ApiParts, makeApi } from "./make-api.js";

export interface Api {
  /** Ends every request that is open. */
  close(): Promise<void>;
}

interface Opening extends ApiParts {
  /** Absolute, in a directory of this account alone; it is made if there is none. */
  readonly socketPath: string;
  /** How often the socket is looked for. */
  readonly lookMs?: number;
}

/** Throws UserError if it cannot listen there. */
export async function openApi({ socketPath, lookMs, ...parts }: Opening): Promise<Api> {
  const api = makeApi(parts);
  try {
    const socket = await openApiSocket(socketPath, api.take, lookMs);
    return {
      close() {
        socket.close();
        return api.close();
      },
    };
  } catch (error) {
    await api.close();
    throw error;
  }
}
