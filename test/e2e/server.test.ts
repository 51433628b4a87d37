// `--server`: a queue service on another machine, asked through a real ssh connection.

import { expect, test } from "vitest";
import { useFarService } from "../rig/far-service.js";

const far = useFarService();

test("a job runs in a directory there, and its output is read from here", async () => {
  const name = await far.add([], "echo hello; pwd; exit 3");
  expect(name).toBe("default/1");
  const { code, stdout } = await far.run(["wait", "--server", far.server, name]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  const logs = await far.run(["logs", "--server", far.server, name, "--out"]);
  expect(logs.stdout).toBe(`hello\n${far.dir}\n`);
  const shown = await far.lines(["show", "--server", far.server, "--json"]);
  expect(JSON.parse(shown[0] ?? "")).toMatchObject({ queue: "default", state: "failed" });
}, 60_000);
