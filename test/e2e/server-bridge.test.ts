// `--server` where sshd connects to no sockets, and with the system's ssh: a process on the machine joins the two.

import { appendFile } from "node:fs/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { type FarService, useFarService } from "../rig/far-service.js";

const LONG_MS = 120_000;
const TICK = "i=0; while [ $i -lt 12 ]; do i=$((i+1)); echo tick $i; sleep 0.2; done";
const TICKS = Array.from({ length: 12 }, (_, index) => `tick ${index + 1}`);

function asksThere(far: FarService): void {
  test(
    "a job is enqueued and followed over a cut link",
    async () => {
      const name = await far.add([], TICK);
      const logs = far.spawn(["logs", "-f", "--out", "--server", far.server, name]);
      await logs.until(({ stdout }) => stdout().includes("tick 3\n"));
      far.relay.cut();
      const { code, stdout } = await logs.ended;
      expect({ code, lines: stdout.trimEnd().split("\n") }).toEqual({ code: 0, lines: TICKS });
    },
    LONG_MS,
  );

  test(
    "a service that has ended is reported",
    async () => {
      await far.killService();
      const { code, stderr } = await far.run(["show", "--server", far.server]);
      expect(code).toBe(2);
      expect(stderr).toContain("no queue service runs of");
    },
    LONG_MS,
  );
}

describe("sshd with AllowStreamLocalForwarding no", () => {
  asksThere(useFarService({ config: ["AllowStreamLocalForwarding no"] }));
});

describe("the system's ssh", () => {
  const far = useFarService();
  beforeEach(() => appendFile(far.server, "transport: openssh\n"));
  asksThere(far);
});
