import { execFileSync } from "node:child_process";
import { afterEach, beforeEach, expect, test } from "vitest";
import { knownMachines } from "../../../../src/batch/name/known-machines.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

let work: Workspace;
let home: Workspace;
beforeEach(async () => {
  [work, home] = await Promise.all([makeWorkspace(), makeWorkspace()]);
});
afterEach(() => Promise.all([work.remove(), home.remove()]));

function known(start = ""): string[] {
  return knownMachines({ cwd: work.dir, homeDir: home.dir }, start).map(({ word }) => word);
}

test("machine files of all places where a name is looked for, without other YAML", async () => {
  await work.write("gpu1.yaml", "username: ada\nip: 192.0.2.1\n");
  await work.write("machines/gpu2.yml", '"host": gpu2\n');
  await home.write(".config/sshoal/machines/gpu3.yaml", "ip: 192.0.2.3\n");
  await home.write(".local/var/here.yaml", "transport: local\n");
  await work.write("sweep.yaml", "command: train\nparameters:\n  ip: [1, 2]\n");
  await work.write(".sshoal.yaml", "ip: 192.0.2.1\n");
  await work.write("notes.txt", "ip: 192.0.2.1\n");
  expect(known()).toEqual(["gpu1.yaml", "gpu2.yml", "gpu3.yaml", "here.yaml"]);
  expect(known("gpu")).toEqual(["gpu1.yaml", "gpu2.yml", "gpu3.yaml"]);
});

test("hosts of the ssh configuration and of what it includes, without patterns", async () => {
  await home.write(".ssh/config", "Include conf.d/* ~/extra\nHost gpu1 gpu2\n  User ada\nHost *.lab !old\n");
  await home.write(".ssh/conf.d/lab", 'host = "lab1"\n');
  await home.write("extra", "Host far\n");
  expect(known()).toEqual(["gpu1", "gpu2", "lab1", "far"]);
});

test("configurations that include each other end", async () => {
  await home.write(".ssh/config", "Include config\nHost gpu1\n");
  expect(new Set(known())).toEqual(new Set(["gpu1"]));
});

test("what cannot be read is left out, and a pipe is not waited for", async () => {
  await work.write("directory.yaml/file", "");
  execFileSync("mkfifo", [work.path("pipe.yaml")]);
  await home.write(".ssh/config/is-a-directory", "");
  expect(known()).toEqual([]);
});
