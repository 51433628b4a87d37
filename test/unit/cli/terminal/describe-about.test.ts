import { expect, test } from "vitest";
import { describeAbout } from "../../../../src/cli/terminal/describe-about.js";
import type { About } from "../../../../src/transport/session.js";

const PLAIN: About = { transport: "ssh2", why: null, login: null, hostKey: null, via: [] };

test.each<[string, Partial<About>]>([
  ["reached by ssh2", {}],
  ["reached without ssh: it is this computer", { transport: "local" }],
  [
    "reached by openssh, because the configuration has a ProxyCommand; logged in with a key of the agent",
    { transport: "openssh", why: "the configuration has a ProxyCommand", login: "a key of the agent" },
  ],
  [
    "reached by ssh2; via ada@login, inner:2222; host key ssh-ed25519 SHA256:abc",
    { via: ["ada@login", "inner:2222"], hostKey: "ssh-ed25519 SHA256:abc" },
  ],
])("%s", (text, about) => {
  expect(describeAbout({ ...PLAIN, ...about })).toBe(text);
});
