// Asks the real ssh about real configuration files.

import { afterEach, beforeEach, expect, test } from "vitest";
import { createKnowsHost } from "../../../../src/transport/config/knows-host.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

let home: Workspace;

beforeEach(async () => {
  home = await makeWorkspace();
});
afterEach(() => home.remove());

/** None of the names in this file can be looked up. */
const NOWHERE = "sshoal-test-nowhere";

test.each([
  ["an alias", `Host ${NOWHERE}\n  HostName 192.0.2.1\n`],
  ["an alias without an address", `Host ${NOWHERE}\n  User ada\n`],
  ["a pattern", "Host *-nowhere\n  Port 2222\n"],
  ["Match", `Match originalhost ${NOWHERE}\n  User ada\n`],
  ["an included file", "Include extra.conf\n"],
  ["a jump host for all names, which may know them", "Host *\n  ProxyJump login\n"],
  ["a command for all names", "Host *\n  ProxyCommand nc %h %p\n"],
  ["a domain for all names that makes an address of them", "Host *\n  HostName 127.0.0.1\n"],
  ["a mistake, which the connection reports later", "Host *\n  Colour red\n"],
])("known by %s", async (_, config) => {
  await home.write("extra.conf", `Host ${NOWHERE}\n  HostName 192.0.2.1\n`);
  const text = config.replace("extra.conf", home.path("extra.conf"));
  const knowsHost = createKnowsHost(home.dir);
  expect(await knowsHost(NOWHERE, await home.write("lab.conf", text))).toBe(true);
});

test.each([
  ["nothing", ""],
  ["other hosts", "Host gpu1 gpu2\n  HostName 192.0.2.1\n"],
  [
    "all hosts",
    "Host *\n  User ada\n  Port 2222\n  IdentityFile ~/.ssh/%h\n  UserKnownHostsFile /hosts/%n\n  ControlPath ~/%C\n",
  ],
  ["a domain for all names", "Host * !*.*\n  HostName %h.invalid\n"],
])("not known by a configuration for %s", async (_, config) => {
  const knowsHost = createKnowsHost(home.dir);
  expect(await knowsHost(NOWHERE, await home.write("lab.conf", config))).toBe(false);
  expect(await knowsHost(NOWHERE.toUpperCase(), home.path("lab.conf"))).toBe(false);
});

test("known by a look-up", async () => {
  // A minimal system has no /etc/hosts, and so no localhost.
  expect(await createKnowsHost(home.dir)("127.0.0.1", "/dev/null")).toBe(true);
});

test("without -F the configuration below HOME counts", async () => {
  await home.write(".ssh/config", `Host ${NOWHERE}\n  User ada\n`);
  const knowsHost = createKnowsHost(home.dir);
  expect(await knowsHost(NOWHERE, null)).toBe(true);
  expect(await knowsHost(`${NOWHERE}-2`, null)).toBe(false);
});
