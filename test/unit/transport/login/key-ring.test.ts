import { expect, test } from "vitest";
import type { LockedKeyFile } from "../../../../src/transport/login/key-file.js";
import { KeyRing } from "../../../../src/transport/login/key-ring.js";
import { person } from "../../../rig/person.js";
import { aKey } from "../a-key.js";

const KEY = aKey();

function locked(path: string): LockedKeyFile {
  return { kind: "locked", path, publicKey: null, unlock: (said) => (said === "right" ? KEY : null) };
}

test("a passphrase is asked for once, even by machines that connect at the same time", async () => {
  const { ask, asked } = person("right");
  const ring = new KeyRing();
  const all = await Promise.all([1, 2, 3].map(() => ring.unlock(locked("/k"), ask)));
  expect(all.map(({ kind }) => kind)).toEqual(["unlocked", "unlocked", "unlocked"]);
  expect((await ring.unlock(locked("/k"), ask)).kind).toBe("unlocked");
  expect(asked).toEqual(["Enter passphrase for key '/k': "]);
});

test("each key has its own passphrase", async () => {
  const { ask, asked } = person("right", "right");
  const ring = new KeyRing();
  await Promise.all([ring.unlock(locked("/a"), ask), ring.unlock(locked("/b"), ask)]);
  expect(asked).toHaveLength(2);
});

test("a wrong one is reported, and there are three tries", async () => {
  const second = person("wrong", "right");
  expect((await new KeyRing().unlock(locked("/k"), second.ask)).kind).toBe("unlocked");
  expect(second.asked[1]).toBe("Wrong passphrase. Enter passphrase for key '/k': ");
  const never = person("a", "b", "c", "right");
  const ring = new KeyRing();
  const refused = { kind: "locked", why: "the passphrase was wrong" };
  expect(await ring.unlock(locked("/k"), never.ask)).toEqual(refused);
  expect(await ring.unlock(locked("/k"), never.ask)).toEqual(refused);
  expect(never.asked).toHaveLength(3);
});

test.each([null, ""])("after the answer %j, the person is not asked again", async (answer) => {
  const { ask, asked } = person(answer, "right");
  const ring = new KeyRing();
  const declined = { kind: "locked", why: "no passphrase was given" };
  expect(await ring.unlock(locked("/k"), ask)).toEqual(declined);
  expect(await ring.unlock(locked("/k"), ask)).toEqual(declined);
  expect(asked).toHaveLength(1);
});
