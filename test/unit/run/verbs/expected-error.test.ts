import { expect, test } from "vitest";
import { ask } from "../../../../src/remote/engine/ask.js";
import { isExpected } from "../../../../src/run/verbs/expected-error.js";
import { connectLocal } from "../../../../src/transport/local.js";

test("a machine that answers without end is at fault: it is left out, and the run continues", async () => {
  const session = await connectLocal();
  try {
    const error = await ask(session, { doing: "asking", script: "yes" }).catch((reason: unknown) => reason);
    expect(String(error)).toContain("a script printed more than the allowed 8388608 bytes");
    expect(isExpected(error)).toBe(true);
  } finally {
    await session.close();
  }
});
