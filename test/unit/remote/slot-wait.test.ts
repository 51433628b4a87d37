// Runs the part of slot.sh that reports why jobs wait, on a made-up clock.

import { execFileSync } from "node:child_process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { joinScript } from "../../../src/remote/join-script.js";
import { makeWorkspace, type Workspace } from "../../rig/workspace.js";
import { SHELLS } from "./a-spool.js";

const partOf = (name: string) => joinScript(new URL(`../../../src/remote/runtime/${name}`, import.meta.url));
const SCRIPT = `slot=3 said='' proc=proc
${partOf("lib.sh")}
${partOf("slot/wait.sh")}
proc=proc
say() { echo "$*"; }
`;

let box: Workspace;
beforeEach(async () => {
  box = await makeWorkspace({ "proc/uptime": "100.00 1.00\n" });
});
afterEach(() => box.remove());

describe.each(SHELLS)("under %s", (_, { words, hasOnlyBusybox }) => {
  const [program = "", ...args] = hasOnlyBusybox ? ["busybox", "sh"] : words;

  /** What a slot reports that finds these reasons one after the other; a number sets the clock. */
  function reported(...steps: readonly (string | number)[]): string[] {
    const calls = steps.map((step) =>
      typeof step === "number"
        ? `echo "${step}.00 1.00" >proc/uptime`
        : `reasons='wait 1-1 - ${step}'; tell_reasons`,
    );
    const output = execFileSync(program, [...args, "-c", `${SCRIPT}${calls.join("\n")}`], {
      cwd: box.dir,
      encoding: "utf8",
    });
    return output.split("\n").slice(0, -1);
  }

  test.each([
    ["memory:7000:6000", "memory:7000:5999"],
    ["cores:4000:1000", "cores:4000:-1000"],
    ["cards:1000:0 card:1:memory:9000:8000:24000", "cards:1000:0 card:1:memory:9000:8001:24000"],
    ["cards:2000:1 card:0:use:750:700", "cards:2000:0 card:0:use:750:900"],
    ["cards:1000:0 card:0:amount:500:400", "cards:1000:0 card:0:amount:500:300"],
    ["res:licence:1000:500", "res:licence:1000:250"],
  ])("%s and %s are one reason, which is reported once a minute", (one, other) => {
    expect(reported(one, other, 159, one, 160, other)).toEqual([
      `waits 3 1-1 - ${one}`,
      `waits 3 1-1 - ${other}`,
    ]);
  });

  test.each([
    ["memory:7000:6000", "cores:7000:6000"],
    ["card:1:memory:9000:8000:24000", "card:2:memory:9000:8000:24000"],
    ["card:1:memory:9000:8000:24000", "card:1:use:9000:8000"],
    ["card:1:taken:-:b:7", "card:1:taken:-:b:8"],
    ["res:licence:1000:500", "res:nvme:1000:500"],
    ["machine:-:b", "machine:carol:b"],
    ["memory:-", "memory:7000:6000 cores:-"],
  ])("%s and %s are two reasons", (one, other) => {
    expect(reported(one, other)).toEqual([`waits 3 1-1 - ${one}`, `waits 3 1-1 - ${other}`]);
  });
});
