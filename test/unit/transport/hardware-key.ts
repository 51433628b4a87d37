// A key as ssh-keygen -t ed25519-sk would write it, without the hardware: nothing can sign with it.

export function aHardwareKey(): { privateText: string; publicText: string; publicKey: Buffer } {
  const type = "sk-ssh-ed25519@openssh.com";
  const publicKey = join([type, Buffer.alloc(32, 7), "ssh:"]);
  const check = Buffer.alloc(8, 1);
  const secret = Buffer.concat([
    check,
    join([type, Buffer.alloc(32, 7), "ssh:"]),
    Buffer.from([1]),
    join([Buffer.alloc(16, 3), "", ""]),
  ]);
  const padding = Buffer.from(Array.from({ length: (8 - (secret.length % 8)) % 8 }, (_, i) => i + 1));
  const body = Buffer.concat([
    Buffer.from("openssh-key-v1\0"),
    join(["none", "none", ""]),
    Buffer.from([0, 0, 0, 1]),
    join([publicKey, Buffer.concat([secret, padding])]),
  ]);
  const lines = body.toString("base64").replace(/.{70}(?=.)/g, "$&\n");
  return {
    privateText: `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines}\n-----END OPENSSH PRIVATE KEY-----\n`,
    publicText: `${type} ${publicKey.toString("base64")} test\n`,
    publicKey,
  };
}

/** Each after its length. */
function join(strings: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(
    strings.flatMap((string) => {
      const bytes = Buffer.from(string);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
}
