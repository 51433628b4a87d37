// Who is on a card, for the rule polite: the allocator is asked with what a slot measures, by the awks of Debian, Red Hat and
// Alpine.

import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { joinScript } from "../../../src/remote/join-script.js";
import { AWKS } from "../../rig/run-awk.js";
import { makeWorkspace } from "../../rig/workspace.js";

const runtime = new URL("../../../src/remote/runtime/", import.meta.url);
const OWN = 1000;
const NEED = ["need a k 1 0 0", "cards k 0 500 1000 100 0 * 0"];
const REFUSED = "wait a k cards:500:0 card:0:person";

describe.each(AWKS)("%s", (awk) => {
  async function ask(freeMb: number, ...lines: string[]): Promise<string> {
    const files = await makeWorkspace();
    const program = await files.write("room.awk", joinScript(new URL("room.awk", runtime)));
    const card = `gpu 0 GPU-a nvidia 24576 ${freeMb} 0 - -`;
    const input = ["mem 9000", "cpu 8000 0", "keep 0 0 0", card, ...lines, ...NEED].join("\n");
    const [first = "", ...words] = awk.split(" ");
    const output = execFileSync(first, [...words, "-v", `own_uid=${OWN}`, "-f", program], { input });
    await files.remove();
    return output.toString().split("\n")[0] ?? "";
  }

  test.each([
    ["nothing is on it", 24_268, [], "start"],
    ["memory is used, and no process is seen", 20_000, [], "person"],
    ["a process of this account explains it", 20_000, [`proc GPU-a 4400 ${OWN} 77`], "start"],
    ["a process of this account explains a part", 20_000, [`proc GPU-a 1000 ${OWN} 77`], "person"],
    ["a process of another account", 24_268, ["proc GPU-a 10 1001 77"], "person"],
    ["a process that is not known", 24_268, ["proc GPU-a - - -"], "person"],
  ])("a polite job, and %s", async (_, freeMb, lines, answer) => {
    const polite = await ask(freeMb, "rule polite", ...lines);
    if (answer === "start") expect(polite).toMatch(/^start a k /);
    else expect(polite).toBe(REFUSED);
    expect(await ask(freeMb, ...lines)).toMatch(/^start a k /);
  });
});
