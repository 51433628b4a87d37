// Wraps one key as an agent, because ssh2 waits for a slow signature only from an agent.

import ssh2, {
  type IdentityCallback,
  type ParsedKey,
  type SignCallback,
  type SigningRequestOptions,
} from "ssh2";

export type Sign = (data: Buffer, options: SigningRequestOptions) => Promise<Buffer>;

export class OneKeyAgent extends ssh2.BaseAgent<ParsedKey> {
  readonly #publicKey: ParsedKey;
  readonly #sign: Sign;

  constructor(publicKey: ParsedKey, sign: Sign) {
    super();
    this.#publicKey = publicKey;
    this.#sign = sign;
  }

  override getIdentities(done: IdentityCallback<ParsedKey>): void {
    done(undefined, [this.#publicKey]);
  }

  override sign(
    key: ParsedKey,
    data: Buffer,
    options: SigningRequestOptions | SignCallback,
    done?: SignCallback,
  ): void {
    if (typeof options === "function") return this.sign(key, data, {}, options);
    this.#sign(data, options).then(
      (signature) => done?.(null, signature),
      (error: Error) => done?.(error),
    );
  }
}
