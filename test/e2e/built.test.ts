// What the build makes of the sources, beyond what each command shows.

import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, test } from "vitest";

const DIST = new URL("../../dist/", import.meta.url);

test("ssh2's own ciphers are found from dist/, where they were compiled", (context) => {
  const ssh2 = createRequire(createRequire(import.meta.url).resolve("ssh2"));
  const from = createRequire(new URL("sshoal.js", DIST));
  const scripts = readdirSync(DIST).filter((name) => name.endsWith(".js"));
  const texts = scripts.map((name) => readFileSync(new URL(name, DIST), "utf8"));
  const [asked] = texts.flatMap((text) => /require\("([^"]+\/sshcrypto\.node)"\)/.exec(text)?.[1] ?? []);
  const compiled = find(ssh2, "./protocol/crypto/build/Release/sshcrypto.node");
  if (compiled === null) return context.skip("there was no compiler when ssh2 was installed");
  expect(find(from, asked ?? "")).toBe(compiled);
});

function find({ resolve }: NodeJS.Require, name: string): string | null {
  try {
    return resolve(name);
  } catch {
    return null;
  }
}
