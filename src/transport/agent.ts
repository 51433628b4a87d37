// The ssh agent: which keys it holds, and signing with some of them only.

import ssh2, { type BaseAgent, type IdentityCallback, type ParsedKey, type SignCallback } from "ssh2";

/** An agent forwarded over a link that has died takes connections and never answers. */
const ANSWER_WITHIN_MS = 3000;

/** Empty when there is no agent behind the socket. Keys that ssh2 cannot use (hardware keys) are not listed. */
export function loadAgentKeys(socketPath: string): Promise<ParsedKey[]> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ANSWER_WITHIN_MS, []);
    new ssh2.OpenSSHAgent(socketPath).getIdentities((error, keys) => {
      clearTimeout(timer);
      resolve(error || keys === undefined ? [] : keys.filter((key) => "getPublicSSH" in key));
    });
  });
}

/** Offers only these keys, so that an agent that holds many does not use up the server's MaxAuthTries. */
export class SomeKeysAgent extends ssh2.BaseAgent<ParsedKey> {
  readonly #agent: BaseAgent<ParsedKey>;
  readonly #keys: readonly ParsedKey[];

  constructor(socketPath: string, keys: readonly ParsedKey[]) {
    super();
    this.#agent = new ssh2.OpenSSHAgent(socketPath);
    this.#keys = keys;
  }

  override getIdentities(done: IdentityCallback<ParsedKey>): void {
    done(undefined, [...this.#keys]);
  }

  override sign(...args: [key: ParsedKey, data: Buffer, options: object, done?: SignCallback]): void {
    this.#agent.sign(...(args as Parameters<BaseAgent<ParsedKey>["sign"]>));
  }
}
