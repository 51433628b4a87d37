// What a service in the background gets, what its unit says, and what is reported when it does not start.

import { expect, test } from "vitest";
import { serviceEnvironment } from "../../../../../src/cli/commands/queue/service-environment.js";
import { startError } from "../../../../../src/cli/commands/queue/start-service.js";
import { systemdUnit } from "../../../../../src/cli/commands/queue/systemd-unit.js";

test("the service gets nothing of the shell but what finds programs, files and keys", () => {
  const passed = {
    HOME: "/h",
    PATH: "/bin",
    LC_ALL: "C",
    XDG_RUNTIME_DIR: "/r",
    SSH_AUTH_SOCK: "/s",
    SSHOAL_X: "1",
  };
  expect(serviceEnvironment({ ...passed, AWS_SECRET: "x", LD_PRELOAD: "y", LANG: undefined })).toEqual(
    passed,
  );
});

test("the words of the unit keep blanks, quotes, % and $", () => {
  const unit = systemdUnit({
    command: ["/n", 'a "b" $c %d\\'],
    environment: { PATH: "/a b:/c%" },
    description: "Queue service of sshoal",
  });
  expect(unit).toContain(String.raw`ExecStart="/n" "a \"b\" $$c %%d\\"`);
  expect(unit).toContain(`Environment="PATH=/a b:/c%%"`);
  expect(unit).toContain("KillMode=process");
});

test("a failed start has the last reason of the log, its hint and its exit code", () => {
  const log = "old line\nerror: first\ntry: no\nerror: the disk is full\ntry: df\n";
  expect(startError(log, 3, "/log")).toMatchObject({
    message: "the queue service did not start: the disk is full",
    hint: "df",
    exitCode: 3,
  });
  expect(startError("", 77, "/log")).toMatchObject({
    message: "the queue service did not start: exit code 77",
    exitCode: 1,
  });
});
