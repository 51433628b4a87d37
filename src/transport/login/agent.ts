// The ssh agent: lists its keys, and signs with one of them.

import { connect } from "node:net";
import ssh2, { type ParsedKey, type SigningRequestOptions } from "ssh2";
import { keyType } from "../trust/known-hosts.js";
import { parsePublicKey } from "./key-file.js";

export interface AgentKey {
  readonly publicKey: Buffer;
  /** `ssh-ed25519`, `sk-ssh-ed25519@openssh.com`, `ssh-rsa-cert-v01@openssh.com`. */
  readonly type: string;
  /** Null if ssh2 cannot use it, as with certificates and hardware keys. */
  readonly key: ParsedKey | null;
}

/** An agent that is forwarded over a dead connection accepts connections but never answers. */
const ANSWER_WITHIN_MS = 3000;
/** The same limit as in OpenSSH. */
const MAX_ANSWER_BYTES = 256 * 1024;
const [REQUEST_IDENTITIES, IDENTITIES_ANSWER] = [11, 12];

/**
 * Empty if there is no agent behind the socket. Asks the agent itself, because ssh2 would leave out keys that it cannot
 * use.
 */
export function loadAgentKeys(socketPath: string): Promise<AgentKey[]> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    let answer = Buffer.alloc(0);
    const finish = (keys: AgentKey[]) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(keys);
    };
    const timer = setTimeout(finish, ANSWER_WITHIN_MS, []);
    socket.on("error", () => finish([])).on("close", () => finish([]));
    socket.on("data", (chunk) => {
      answer = Buffer.concat([answer, chunk]);
      const length = answer.length < 4 ? Number.POSITIVE_INFINITY : 4 + answer.readUInt32BE(0);
      if (answer.length >= length) finish(parseIdentities(answer.subarray(4, length)));
      else if (answer.length > MAX_ANSWER_BYTES) finish([]);
    });
    socket.write(Buffer.from([0, 0, 0, 1, REQUEST_IDENTITIES]));
  });
}

/** The format: a byte for the type, a count, then two strings per key: the key and a comment. */
export function parseIdentities(answer: Buffer): AgentKey[] {
  const keys: AgentKey[] = [];
  try {
    if (answer.readUInt8(0) !== IDENTITIES_ANSWER) return [];
    let at = 5;
    for (let left = answer.readUInt32BE(1); left > 0; left--) {
      const length = answer.readUInt32BE(at);
      const publicKey = answer.subarray(at + 4, at + 4 + length);
      at += 4 + length;
      at += 4 + answer.readUInt32BE(at);
      keys.push({ publicKey, type: keyType(publicKey), key: parsePublicKey(publicKey) });
    }
  } catch {
    // The answer was cut off: complete keys count.
  }
  return keys;
}

export function signByAgent(
  socketPath: string,
  key: ParsedKey,
  data: Buffer,
  options: SigningRequestOptions,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    new ssh2.OpenSSHAgent(socketPath).sign(key, data, options, (error, signature) => {
      if (signature === undefined || error) reject(error ?? new Error("no signature"));
      else resolve(signature);
    });
  });
}
