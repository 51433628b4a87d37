import { expect, test } from "vitest";
import { remoteErrorFrom } from "../../../../src/remote/engine/remote-error.js";

test.each([
  ["", "staging failed"],
  ["\n \n", "staging failed"],
  ["warning: x\ntar: cannot open\n\n", "staging failed: tar: cannot open"],
  [
    "tar: a: Cannot open: Permission denied\ntar: Exiting with failure status due to previous errors\n",
    "staging failed: tar: a: Cannot open: Permission denied",
  ],
  ["tar: short read\ntar: Error is not recoverable: exiting now\n", "staging failed: tar: short read"],
])("the last message is the reason: %j", (stderr, message) => {
  expect(remoteErrorFrom("staging", stderr).message).toBe(message);
});

test.each([
  ["tar: a: Cannot write: No space left on device", /free space on the machine/],
  ["cp: error writing: Disk quota exceeded", /free space on the machine/],
  ["not enough space: 5 MB to copy, 1 MB free in /x", /free space on the machine/],
  ["mkdir: cannot create directory: Permission denied", /you may write to/],
  ["mkdir: Read-only file system", /you may write to/],
  ["there is no tar on the machine", /sshoal doctor/],
  ["not safe: /tmp/.sshoal belongs to another account", /only you can write to/],
])("the hint for: %s", (stderr, hint) => {
  expect(remoteErrorFrom("staging", `before\n${stderr}\nafter`).hint).toMatch(hint);
});

test.each([
  "sh: 1: Cannot fork",
  "sh: fork: retry: Resource temporarily unavailable",
  "sh: can't fork: Resource temporarily unavailable",
  "setpriv: failed to execute /bin/sh: Resource temporarily unavailable",
])("a machine at its process limit may succeed later: %s", (stderr) => {
  expect(remoteErrorFrom("staging", stderr)).toMatchObject({
    isRetryable: true,
    hint: expect.stringContaining("ulimit -u"),
  });
  expect(remoteErrorFrom("staging", "tar: no").isRetryable).toBe(false);
});

test("otherwise there is no hint", () => {
  expect(remoteErrorFrom("staging", "tar: unexpected end of file").hint).toBeNull();
});
