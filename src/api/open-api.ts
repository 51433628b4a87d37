// The HTTP API on a unix socket, and on TCP if that is asked for.

import { openApiSocket } from "./api-socket.js";
import { type ApiParts, makeApi } from "./make-api.js";
import { type Network, type NetworkAsked, type OpenNetwork, openNetwork } from "./open-network.js";

export interface Api {
  /** Null: only the socket. */
  readonly network: Network | null;
  /** Ends every request that is open. */
  close(): Promise<void>;
}

interface Opening extends Omit<ApiParts, "network"> {
  /** Absolute, in a directory of this account alone; it is made if there is none. */
  readonly socketPath: string;
  /** Where it listens on TCP as well; absent or null: nowhere. */
  readonly network?: NetworkAsked | null;
  /** How often the socket is looked for. */
  readonly lookMs?: number;
}

/** Throws UserError if it cannot listen there. */
export async function openApi({ socketPath, network: asked, lookMs, ...parts }: Opening): Promise<Api> {
  let network: OpenNetwork | null = null;
  const api = makeApi({ ...parts, network: () => network });
  const socket = await openApiSocket(socketPath, api.take, lookMs).catch(async (error: unknown) => {
    await api.close();
    throw error;
  });
  const close = () => {
    socket.close();
    network?.close();
    return api.close();
  };
  if (asked)
    network = await openNetwork(asked, api.take).catch(async (error: unknown) => {
      await close();
      throw error;
    });
  return { network, close };
}
