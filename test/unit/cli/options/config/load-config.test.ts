import { afterEach, beforeEach, expect, test } from "vitest";
import { loadConfig } from "../../../../../src/cli/options/config/load-config.js";
import { type InputBox, makeInputBox } from "../../../input/input-box.js";

let box: InputBox;
beforeEach(async () => {
  box = await makeInputBox();
});
afterEach(() => box.remove());

function load() {
  const uid = process.geteuid?.() ?? 0;
  return loadConfig({ cwd: box.cwd, homeDir: box.homeDir, configHome: undefined, uid });
}

test("both files are loaded, the user's first, and a problem of one keeps the other", async () => {
  await box.write("home/.config/sshoal/config.yaml", "timeout: [\n");
  await box.write("project/.sshoal.yaml", "timeout: 1h\n");
  const { files } = await load();
  expect(files.map(({ level, root, problems }) => [level, root !== null, problems.length])).toEqual([
    ["user", false, 1],
    ["project", true, 0],
  ]);
});

test("without files, the places where they would be are known", async () => {
  const { files, places } = await load();
  expect(files).toEqual([]);
  expect(places.map(({ level, isThere }) => [level, isThere])).toEqual([
    ["user", false],
    ["project", false],
  ]);
});
