// Runs slot.sh with jobs that remove, move or replace their own working directory. Later jobs must not notice it.

import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { listBelow } from "../../rig/batch.js";
import { SHELLS } from "./a-spool.js";
import { useSpool } from "./own-spool.js";

const A = "0000001-1";
const B = "0000002-1";
const C = "0000003-1";

/** Each leaves the slot without the directory that its next job expects. */
const DAMAGES: [string, string][] = [
  ["removes it", 'rm -rf "$PWD"'],
  ["moves it elsewhere", 'mv "$PWD" "$HOME/moved"'],
  ["moves it elsewhere and makes an empty one", 'mv "$PWD" "$HOME/moved"; mkdir "$PWD"'],
  ["replaces it by a file", 'rm -rf "$PWD"; echo >"$PWD"'],
  ["replaces it by a link to a directory of the user", 'rm -rf "$PWD"; ln -s "$HOME/precious" "$PWD"'],
  [
    "replaces it by a link to an empty directory",
    'rm -rf "$PWD"; mkdir "$HOME/empty"; ln -s "$HOME/empty" "$PWD"',
  ],
  ["replaces it by a link to nowhere", 'rm -rf "$PWD"; ln -s /nowhere "$PWD"'],
  ["may no longer enter it", 'chmod 000 "$PWD"'],
];

describe.each(SHELLS.filter(([name]) => name !== "bash"))("under %s", (_, shell) => {
  const { home, spool } = useSpool(shell);

  beforeEach(async () => {
    await home.write(".sshoal/trees/t/in", "as sent");
    await home.write(".sshoal/trees/t/d/in", "as sent");
    // With the same content and times as the tree: an entry that looks like an unchanged input would be deleted.
    execFileSync("cp", ["-a", home.path(".sshoal/trees/t"), home.path("precious")]);
  });

  const exitOf = async (key: string) => (await spool.read(`jobs/${key}/exit`)).trim();

  describe.each([
    ["a tree", "t", false],
    ["a large tree", "t", true],
    ["an empty directory", "-", false],
  ])("in %s,", (_, tree, isLarge) => {
    describe.each(DAMAGES)("a job %s:", (_, damage) => {
      test.each([
        ["run by a fork, if there is one", `sh -c '${damage}; exit 3'`],
        ["in its own shell", `${damage}; exit 3`],
      ])("%s, it keeps its outcome, and the next jobs get a directory as it was sent", async (_, line) => {
        const look = "find . -type f | sort; pwd";
        await spool.job(A, line, tree, { isLarge });
        for (const key of [B, C]) await spool.job(key, `${look}; touch made-${key}`, tree, { isLarge });
        await spool.run();
        expect([await exitOf(A), await exitOf(B), await exitOf(C)]).toEqual(["3", "0", "0"]);
        const files = tree === "-" ? "" : "./d/in\n./in\n";
        for (const key of [B, C]) {
          expect(await spool.read(`jobs/${key}/out`)).toBe(`${files}${join(spool.dir, "slots/0/work")}\n`);
          expect(await spool.results(key)).toEqual([`made-${key}`]);
        }
        expect(listBelow(home.path("precious"))).toEqual(["d/", "d/in", "in"]);
      });
    });
  });

  test("files that it made before it moved its directory are at the new place", async () => {
    await spool.job(A, 'echo result >made; mv "$PWD" "$HOME/moved"', "t");
    await spool.run();
    expect(await home.read("moved/made")).toBe("result\n");
    expect(await spool.read(`jobs/${A}/err`)).toContain(
      "sshoal: the job removed or replaced its working directory",
    );
  });

  test("a link at the place of its results is not followed", async () => {
    await spool.job(A, `ln -s "$HOME/precious" ../../../jobs/${A}/work; echo result >made`, "t");
    await spool.run();
    expect(await spool.results(A)).toEqual(["made"]);
    expect(listBelow(home.path("precious"))).toEqual(["d/", "d/in", "in"]);
  });

  test("an earlier loop's copy that was replaced by a link is not followed", async () => {
    await mkdir(join(spool.dir, "slots/0"), { recursive: true });
    symlinkSync(home.path("precious"), join(spool.dir, "slots/0/work"));
    await spool.job(A, "rm -rf d in; echo result >made", "t");
    await spool.run();
    expect(listBelow(home.path("precious"))).toEqual(["d/", "d/in", "in"]);
    expect(await spool.results(A)).toEqual(["made"]);
  });

  test("a directory that cannot be removed is moved aside: the tree is never copied into it", async () => {
    // Like a directory with a busy mount in it.
    await home.write(
      "bin/rm",
      `#!/bin/sh\ncase "$*" in *slots/0/work) [ -d slots/0/work ] && exit 1 ;; esac\nexec /bin/rm "$@"\n`,
    );
    await mkdir(join(spool.dir, "slots/0/work"), { recursive: true });
    await writeFile(join(spool.dir, "slots/0/work/old"), "");
    for (const key of [A, B]) await spool.job(key, "find . -type f | sort; echo >>in", "t");
    await spool.run();
    for (const key of [A, B]) expect(await spool.read(`jobs/${key}/out`)).toBe("./d/in\n./in\n");
  });

  test.skipIf(shell.hasOnlyBusybox)(
    "if the search for results is killed, the job keeps all of them",
    async () => {
      await home.write("bin/du", "#!/bin/sh\nexit 1\n");
      await home.write(
        "bin/find",
        `#!/bin/sh\ncase "$*" in *"-print -quit") kill -KILL $$ ;; esac\nexec /usr/bin/find "$@"\n`,
      );
      await spool.job(A, "echo result >made", "t");
      await spool.start().ended; // the shell may print "Killed"
      expect(await spool.results(A)).toEqual(["made"]);
    },
  );

  test("results that cannot be put apart: the job fails, and its stderr has the reason", async () => {
    await home.write("bin/mv", `#!/bin/sh\ncase "$*" in *slots/0/work*) exit 1 ;; esac\nexec /bin/mv "$@"\n`);
    await spool.job(A, "echo result >made", "t");
    await spool.run();
    expect(await exitOf(A)).toBe("125");
    expect(await spool.read(`jobs/${A}/err`)).toContain("sshoal: the results of this job could not be kept");
  });
});
