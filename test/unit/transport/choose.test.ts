import { expect, test } from "vitest";
import { type Choice, choose, type Stop } from "../../../src/transport/choose.js";

const plain = { alias: "gpu1", reasons: [] };
const proxied = {
  alias: "gpu1",
  reasons: ["the configuration has a ProxyCommand", "its key has a certificate"],
};
const certified = { alias: "jump", reasons: ["the agent holds a certificate"] };

test.each<[string, "ssh2" | "openssh" | null, Stop[], Choice]>([
  ["nothing special", null, [plain], { transport: "ssh2", why: null }],
  ["plain hops", null, [{ alias: "jump", reasons: [] }, plain], { transport: "ssh2", why: null }],
  [
    "something ssh2 cannot do",
    null,
    [proxied],
    { transport: "openssh", why: "the configuration has a ProxyCommand; its key has a certificate" },
  ],
  [
    "something ssh2 cannot do at a jump host",
    null,
    [certified, plain],
    { transport: "openssh", why: "at the jump host jump, the agent holds a certificate" },
  ],
  ["the machine file decides", "ssh2", [proxied], { transport: "ssh2", why: "set in the machine file" }],
  [
    "the machine file decides for openssh",
    "openssh",
    [plain],
    { transport: "openssh", why: "set in the machine file" },
  ],
])("%s", (_, wish, stops, choice) => {
  expect(choose(wish, stops)).toEqual(choice);
});
