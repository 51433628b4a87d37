// Runs cards.awk with the awks of Debian, Red Hat and Alpine.

import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runtimeFile } from "../../../src/remote/runtime-files.js";
import { makeWorkspace, type Workspace } from "../../rig/workspace.js";

const AWKS = [["mawk"], ["gawk"], ["busybox", "awk"]];
const CARD = "card 0 GPU-a nvidia 24576 24268 0 - -";
let work: Workspace;

beforeAll(async () => {
  work = await makeWorkspace({ "cards.awk": runtimeFile("cards.awk"), room: `${CARD}\n` });
});
afterAll(() => work.remove());

describe.each(AWKS)("%s %s", (...words) => {
  test.each([
    ["0", "0"],
    ["5", "50"],
    ["50", "500"],
    ["97", "970"],
    ["100", "1000"],
    ["101", "-"],
    ["[N/A]", "-"],
  ])("the use of a card is read: %s %%", async (percent, use) => {
    const fields = "smi-fields index,uuid,memory.total,memory.free,utilization.gpu,name";
    await work.write("answer", `${fields}\nsmi 0, GPU-a, 24576, 14000, ${percent}, NVIDIA RTX 3090\n`);
    const [program = "", ...first] = words.filter((word) => word !== undefined);
    const args = [...first, "-f", "cards.awk", "room", "answer"];
    const printed = execFileSync(program, args, { cwd: work.dir, encoding: "utf8" });
    expect(printed).toBe(`gpu 0 GPU-a nvidia 24576 14000 ${use} - -\n`);
  });
});
