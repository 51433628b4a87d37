// The probe reads the claims of all accounts, which may contain anything.

import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { chown, mkdir, rename, symlink, truncate } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "../../rig/until.js";
import type { Workspace } from "../../rig/workspace.js";
import { type Circumstances, ProbeBox, SHELLS } from "./probe-box.js";

const UID = process.getuid?.() ?? 0;
const USER = execFileSync("id", ["-un"], { encoding: "utf8" }).trim();
const OTHER = 1234;
const TEXT = "7000 2 1000 0.75 1 0 GPU-a\nby train.sh 14 70\non GPU-a 1000 750 1000\nend\n";

describe.each(SHELLS)("under %s", (shell) => {
  let box: ProbeBox;
  let files: Workspace;
  let holders: ChildProcess[];

  beforeEach(async () => {
    box = await ProbeBox.make(shell);
    files = box.files;
    holders = [];
  });
  afterEach(async () => {
    for (const { pid } of holders) process.kill(-(pid ?? 0), "SIGKILL");
    await files.remove();
  });

  /** Holds the lock of a claim, as a slot does. */
  async function hold(file: string): Promise<void> {
    holders.push(
      spawn("flock", ["-x", files.path(file), "sleep", "1000"], { detached: true, stdio: "ignore" }),
    );
    await until("the lock is held", () => spawnSync("flock", ["-n", files.path(file), "true"]).status === 1);
  }

  async function live(file: string, text = TEXT): Promise<void> {
    await files.write(file, text);
    await hold(file);
  }

  function claims(circumstances: Circumstances = {}) {
    const env = { SSHOAL_CLAIMS: files.path("claims"), ...circumstances.env };
    const { lines, isComplete, stderr } = box.run({ ...circumstances, env });
    expect({ isComplete, stderr }).toEqual({ isComplete: true, stderr: "" });
    return lines.filter((line) => /^(claim-(file|line)|rss|account)/.test(line));
  }

  const own = (rest = "") => `claims/.sshoal-claims-${UID}${rest}`;

  test("a locked file is a claim, an unlocked or empty one is none", async () => {
    await live(`${own()}/train.sh@box.0`);
    await live(`${own()}/train.sh@box.1`, "");
    await files.write(`${own()}/train.sh@box.2`, TEXT);
    expect(claims()).toEqual([
      `claim-file ${UID}/1.1 1 ${USER} train.sh@box.0`,
      ...TEXT.trim()
        .split("\n")
        .map((line) => `claim-line ${UID}/1.1 ${line}`),
      `account ${USER}`,
    ]);
  });

  test("names that no slot makes are no claims, as for slots", async () => {
    for (const name of ["odd name@box.0", "odd\nname@box.0", ".odd@box.0", "no-host.0", "no-slot@box"])
      await live(`${own()}/${name}`);
    expect(claims()).toEqual([]);
  });

  test("links, pipes, directories and long files are neither followed nor waited for", async () => {
    await live("secret");
    await mkdir(files.path(`${own()}/directory@box.0`), { recursive: true });
    await symlink(files.path("secret"), files.path(`${own()}/link@box.0`));
    execFileSync("mkfifo", [files.path(`${own()}/pipe@box.0`)]);
    await live(`${own()}/long@box.0`, `${"x".repeat(70)}\n`.repeat(80));
    await live(`${own()}/huge@box.0`);
    await truncate(files.path(`${own()}/huge@box.0`), 2 ** 40);
    await rename(files.path(own()), files.path("claims/elsewhere"));
    await symlink("elsewhere", files.path(own()));
    await mkdir(files.path(own(".1")));
    execFileSync("sh", ["-c", 'mv "$1"/* "$2"', "sh", files.path("claims/elsewhere"), files.path(own(".1"))]);
    await live(`claims/elsewhere/linked@box.0`);
    expect(claims()).toEqual([]);
  });

  test("garbage becomes lines for the client, without control over anything else", async () => {
    await live(`${own()}/$(echo>pwned)@box.0`, "\0\x1b[2J * $(touch pwned)\n%s%d\\n\nby b j ../../x\nend\n");
    const lines = claims();
    expect(lines[0]).toBe(`claim-file ${UID}/1.1 1 ${USER} $(echo>pwned)@box.0`);
    expect(lines).toContain(`claim-line ${UID}/1.1 %s%d\\n`);
    expect(lines.at(-1)).toBe(`account ${USER}`);
    expect(execFileSync("find", [files.dir, "-name", "pwned"], { encoding: "utf8" })).toBe("");
  });

  test.runIf(UID === 0)(
    "another account's claims have its name; a directory with a foreign number has none",
    async () => {
      await live(`claims/.sshoal-claims-${OTHER}/b@box.0`);
      await live("claims/.sshoal-claims-77/b@box.0");
      await chown(files.path(`claims/.sshoal-claims-${OTHER}`), OTHER, OTHER);
      await chown(files.path("claims/.sshoal-claims-77"), OTHER, OTHER);
      const found = claims().filter((line) => line.startsWith("claim-file"));
      expect(found).toEqual([expect.stringMatching(`^claim-file ${OTHER}/1.1 0 \\S+ b@box.0$`)]);
    },
  );

  test.runIf(UID === 0)("a directory that blocks its reader does not hide the others", async () => {
    await live(`${own()}/b@box.0`);
    await live(`claims/.sshoal-claims-${OTHER}/b@box.0`);
    await chown(files.path(`claims/.sshoal-claims-${OTHER}`), OTHER, OTHER);
    const real = execFileSync("sh", ["-c", "command -v flock"], { encoding: "utf8" }).trim();
    const path = files.path("bin/flock");
    await files.write(
      "bin/flock",
      `#!/bin/sh\ncase $PWD in *-${OTHER}) exec sleep 1000 ;; esac\nexec ${real} "$@"\n`,
    );
    execFileSync("chmod", ["755", path]);
    expect(claims().filter((line) => line.startsWith("claim-file"))).toEqual([
      expect.stringMatching(`^claim-file ${UID}/\\d.1 1 ${USER} b@box.0$`),
    ]);
  });

  test("the memory of a job counts by the loop above it, and by its leader if the loop is gone", async () => {
    const stat = (pid: number, parent: number, group: number, pages: number) =>
      `${pid} (a b) S ${parent} ${group} ${group} 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 50 9 ${pages} 1 1 1 0\n`;
    await files.write("proc/70/stat", stat(70, 1, 70, 7));
    await files.write("proc/70/status", `Name:\tsh\nUid:\t${UID}\t${UID}\n`);
    await files.write("proc/71/stat", stat(71, 70, 70, 8));
    await files.write("proc/72/stat", stat(72, 71, 72, 100));
    await files.write("proc/73/stat", stat(73, 72, 73, 200));
    await files.write("proc/80/stat", stat(80, 1, 80, 400));
    await live(`${own()}/train.sh@box.0`);
    await live(`${own()}/other.sh@box.3`, "5 1 0 0 0 0 -\nby other.sh 2 69\nend\n");
    await files.write("s/batches/other.sh@box/slots/3/job", "80 50 boot k\n");
    const lines = claims({ bases: [files.path("s")] });
    const idOf = (name: string) => lines.find((line) => line.endsWith(name))?.split(" ")[1];
    expect(lines.filter((line) => line.startsWith("rss")).sort()).toEqual(
      [
        `rss ${idOf("train.sh@box.0")} 100`,
        `rss ${idOf("train.sh@box.0")} 200`,
        `rss ${idOf("other.sh@box.3")} 400`,
      ].sort(),
    );
  });

  test("a claim with what its job uses: its cards by the processes below its loop", async () => {
    const stat = (pid: number, parent: number, pages: number) =>
      `${pid} (a b) S ${parent} ${pid} ${pid} 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 50 9 ${pages} 1 1 1 0\n`;
    await files.write("proc/70/stat", stat(70, 1, 7));
    await files.write("proc/70/status", `Name:\tsh\nUid:\t${UID}\t${UID}\n`);
    await files.write("proc/72/stat", stat(72, 70, 2560));
    await files.write("proc/72/comm", "python\n");
    await files.write("proc/80/stat", stat(80, 1, 9));
    box.withGpus({
      gpus: [
        {
          uuid: "GPU-a",
          processes: [
            { pid: 72, memory: 600, name: "python" },
            { pid: 80, memory: 9000, name: "other" },
          ],
        },
      ],
    });
    await live(`${own()}/train.sh-1@box.3`, `${TEXT.replace("end\n", "")}has licence a 500\nend\n`);
    const env = { SSHOAL_CLAIMS: files.path("claims") };
    const { capacity } = box.run({ env, holders: true });
    expect(capacity.account).toBe(USER);
    expect(capacity.claims).toEqual([
      {
        owner: "",
        batch: "train.sh",
        job: "14",
        slot: "3",
        memoryMb: 7000,
        residentMb: 10,
        cpus: 2,
        cards: [{ uuid: "GPU-a", memoryMb: 1000, share: 0.75, amount: 1, usedMb: 600 }],
        resources: [{ name: "licence", instance: "a", amount: 0.5 }],
        reservesMachine: false,
      },
    ]);
    expect(capacity.gpus[0]?.holders?.map(({ pid, isClaimed }) => ({ pid, isClaimed }))).toEqual([
      { pid: 72, isClaimed: true },
      { pid: 80, isClaimed: false },
    ]);
  });

  test("a loop that is another account's process has no job here", async () => {
    await files.write("proc/70/status", `Name:\tsh\nUid:\t${UID + 1}\t${UID + 1}\n`);
    await files.write(
      "proc/72/stat",
      "72 (a) S 70 72 72 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 50 9 100 1 1 1 0\n",
    );
    await live(`${own()}/train.sh@box.0`);
    expect(claims().filter((line) => line.startsWith("rss"))).toEqual([]);
  });

  test("the spool of a format that keeps claims elsewhere is not read twice", async () => {
    await files.write(
      "proc/70/stat",
      "70 (sh) S 1 70 70 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 50 9 1 1 1 1 0\n",
    );
    const boot = "5b1f9a52-0000-4000-8000-000000000000@box";
    for (const format of ["2", "3"]) {
      await files.write(`s/batches/b${format}@box/slots/0/claim`, "5 1 0 0 0 0 -\n");
      await files.write(`s/batches/b${format}@box/slots/0/loop`, `70 50 ${boot}\n`);
      await files.write(`s/batches/b${format}@box/format`, `${format}\n`);
    }
    const { lines } = box.run({ bases: [files.path("s")], env: { SSHOAL_CLAIMS: files.path("claims") } });
    expect(lines.filter((line) => line.startsWith("claim "))).toEqual(["claim 70 0 - 5 1 0 0 0 0 - b2@box"]);
  });
});
