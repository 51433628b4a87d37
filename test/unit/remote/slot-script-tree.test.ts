// Runs slot.sh: the directory a job starts in, and which of its files are results. The tools matter here, not the
// shell, so GNU's and busybox's are enough.

import { execFileSync } from "node:child_process";
import { existsSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { chmod, mkdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { until } from "../../rig/until.js";
import { BATCH, BOOT_ID, HAS_PLAIN_SLOTS, HOST, SHELLS } from "./a-spool.js";
import { useSpool } from "./own-spool.js";

const A = "0000001-1";
const B = "0000002-1";

describe.each(SHELLS.filter(([name]) => name !== "bash"))("under %s", (_, shell) => {
  const { home, spool, remake } = useSpool(shell);

  async function tree(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [path, text] of Object.entries(files)) await home.write(`.sshoal/trees/t/${path}`, text);
  }

  test("each job starts in its own copy of the tree, and cannot change the copies of others", async () => {
    await tree({ "in.txt": "as sent\n", "run.sh": "#!/bin/sh\ncat in.txt\n", "deep/er/x": "x" });
    for (const key of [A, B]) await spool.job(key, "./run.sh; echo changed >in.txt; rm deep/er/x", "t");
    await spool.run();
    for (const key of [A, B]) expect(await spool.read(`jobs/${key}/out`)).toBe("as sent\n");
    expect(await home.read(".sshoal/trees/t/in.txt")).toBe("as sent\n");
    expect(await home.read(".sshoal/trees/t/deep/er/x")).toBe("x");
  });

  test("a job's end is reported before the next job's copy is made, even if that takes long", async () => {
    await tree({ "in.txt": "1" });
    await home.write(
      "bin/cp",
      '#!/bin/sh\nuntil [ -e "$HOME/go" ]; do sleep 0.01; done\nexec /bin/cp "$@"\n',
    );
    await chmod(home.path("bin/cp"), 0o700);
    await spool.job(A, "true");
    await spool.job(B, "cat in.txt", "t");
    const loop = spool.start();
    await spool.untilEvent(`ended ${A} 0 0 `);
    expect((await spool.events()).filter((event) => event.includes(B))).toEqual([]);
    await home.write("go", "");
    await loop.ended;
    expect(await spool.read(`jobs/${B}/out`)).toBe("1");
  });

  test("without a tree it is empty, and every new file is a result", async () => {
    await spool.job(A, "find . | wc -l; touch made");
    await spool.run();
    expect((await spool.read(`jobs/${A}/out`)).trim()).toBe("1");
    expect(await spool.results(A)).toEqual(["made"]);
  });

  test("changed and new files stay, unchanged ones are removed", async () => {
    await tree({ same: "1", changed: "1", "d/same": "1", "d/changed": "1", "e/f/same": "1", gone: "1" });
    await spool.job(A, "echo 2 >changed; echo 2 >>d/changed; echo >new; mkdir -p n/m; rm gone", "t");
    await spool.run();
    expect(await spool.results(A)).toEqual(["changed", "d/", "d/changed", "n/", "n/m/", "new"]);
  });

  test("a file of the tree under a new name is a result", async () => {
    await tree({ "a/model": "weights", b: "1" });
    await spool.job(A, "mv a/model kept; ln b linked; cp -p b copied", "t");
    await spool.run();
    const results = await spool.results(A);
    expect(results).toEqual(expect.arrayContaining(["copied", "kept", "linked"]));
    expect(results).not.toContain("a/");
  });

  test("a result with its old size and a reset time is still a result", async () => {
    await tree({ cache: "1", same: "1" });
    await spool.job(A, "cp -p cache old; printf 2 >cache; touch -r old cache; rm old", "t");
    await spool.run();
    expect(await spool.results(A)).toEqual(["cache"]);
  });

  test("links: those that were sent are removed, new ones stay, wherever they lead", async () => {
    await tree({ file: "1", "d/x": "1" });
    await symlink("file", home.path(".sshoal/trees/t/sent"));
    await symlink("nowhere", home.path(".sshoal/trees/t/dangling"));
    await spool.job(
      A,
      "readlink sent; readlink dangling; ln -s nowhere made; ln -s /etc/passwd d/far; ln -sfn d file",
      "t",
    );
    await spool.run();
    expect(await spool.read(`jobs/${A}/out`)).toBe("file\nnowhere\n");
    expect(await spool.results(A)).toEqual(["d/", "d/far", "file", "made"]);
    expect(readlinkSync(join(spool.dir, "jobs", A, "work/made"))).toBe("nowhere");
  });

  test("unusual names: spaces, newlines, leading dashes, globs, quotes", async () => {
    const odd = ["a b", "new\nline", "-rf", "*", "it's", '"', "$HOME", "é", "\\", "d ir\n/-x"];
    await tree(
      Object.fromEntries(odd.flatMap((name) => [name, `changed/${name}`]).map((name) => [name, "1"])),
    );
    await spool.job(
      A,
      "cd changed && find . -type f -exec sh -c 'for f; do echo >>\"$f\"; done' sh {} +",
      "t",
    );
    await spool.run();
    const expected = [...odd, "d ir\n/"].map((name) => `changed/${name}`);
    expect(await spool.results(A)).toEqual(["changed/", ...expected].toSorted());
    expect(await spool.read(`jobs/${A}/err`)).toBe("");
  });

  test("read-only files of the tree are still copied, and removed", async () => {
    await tree({ "ro/file": "1", "ro/sub/x": "1" });
    await chmod(home.path(".sshoal/trees/t/ro/file"), 0o444);
    await chmod(home.path(".sshoal/trees/t/ro"), 0o555);
    await spool.job(A, "cat ro/file ro/sub/x", "t");
    await spool.run();
    expect(await spool.read(`jobs/${A}/out`)).toBe("11");
    expect(await spool.results(A)).toEqual([]);
  });

  test("unchanged inputs are also collected if requested", async () => {
    await remake({ settings: { copy_unchanged: 1 } });
    await tree({ same: "1", "d/same": "1" });
    await spool.job(A, "echo >new", "t");
    await spool.run();
    expect(await spool.results(A)).toEqual(["d/", "d/same", "new", "same"]);
  });

  describe("consecutive jobs of a slot", () => {
    const C = "0000003-1";

    test("a job that changes nothing leaves no results, and passes its copy to the next one", async () => {
      await tree({ in: "1", "d/in": "1" });
      for (const key of [A, B, C]) await spool.job(key, "cat in d/in; stat -c %i . in d/in", "t");
      await spool.run();
      const said = await Promise.all([A, B, C].map((key) => spool.read(`jobs/${key}/out`)));
      if (!shell.hasOnlyBusybox) expect(new Set(said).size).toBe(1);
      for (const each of said) expect(each.startsWith("11")).toBe(true);
      for (const key of [A, B, C]) expect(await spool.results(key)).toEqual([]);
    });

    test("in a large tree, unchanged entries are passed on, and changed ones are restored", async () => {
      await tree({
        same: "1",
        changed: "1",
        gone: "1",
        ".hidden": "1",
        "d/same": "1",
        "e/deep/changed": "1",
      });
      await symlink("same", home.path(".sshoal/trees/t/link"));
      const look =
        "find . | sort; cat same changed gone .hidden d/same e/deep/changed link; stat -c %i d/same";
      const spoil = "echo 2 >changed; rm gone; echo 2 >e/deep/changed; mkdir new; echo >new/made";
      for (const key of [A, B, C]) await spool.job(key, `${look}; ${spoil}`, "t", { isLarge: true });
      await spool.run();
      const said = await Promise.all([A, B, C].map((key) => spool.read(`jobs/${key}/out`)));
      if (!shell.hasOnlyBusybox) expect(new Set(said).size).toBe(1);
      for (const each of said) expect(each).toContain("1111111");
      for (const key of [A, B, C]) {
        expect(await spool.results(key)).toEqual(
          ["changed", "e/", "e/deep/", "e/deep/changed", "new/", "new/made"].toSorted(),
        );
        expect(await spool.read(`jobs/${key}/err`)).toBe("");
      }
    });

    test("entries that a job hides are restored for the next one", async () => {
      await tree({ in: "1", "d/in": "1" });
      const spoil = "printf 2 >in; touch -r d/in in; chmod 500 d; chmod 500 .";
      for (const key of [A, B]) await spool.job(key, `cat in; ${spoil}`, "t", { isLarge: true });
      await spool.run();
      for (const key of [A, B]) expect(await spool.read(`jobs/${key}/out`)).toBe("1");
      for (const key of [A, B]) expect(await spool.results(key)).toContain("in");
    });

    test.each([
      ["a mode", "chmod 640 d/in"],
      ["the mode of a directory", "chmod 750 d"],
      ["the mode of the directory itself", "chmod 750 ."],
      ["content, with the old time", "touch -r d/in ../old; printf 2 >d/in; touch -r ../old d/in"],
      ["a time", "touch -d 2001-01-01 d/in"],
      ["a name that is gone", "rm d/in"],
      ["a name that is new", "echo >d/.new"],
      ["where a link leads", "ln -sfn in d/link"],
    ])("%s is all that a job changes: the next one finds it as it was sent", async (_, change) => {
      await tree({ in: "1", "d/in": "1" });
      await symlink("nowhere", home.path(".sshoal/trees/t/d/link"));
      const look = "find . | sort; cat d/in; readlink d/link; stat -c '%n %a %Y' d/in d .";
      await spool.job(A, look, "t");
      await spool.job(B, `${look}; ${change}`, "t");
      await spool.job(C, look, "t");
      await spool.run();
      const [first, , last] = await Promise.all([A, B, C].map((key) => spool.read(`jobs/${key}/out`)));
      expect(last).toBe(first);
    });

    test.skipIf(shell.hasOnlyBusybox || HAS_PLAIN_SLOTS)(
      "no new process is needed to see whether a job changed anything",
      async () => {
        await tree({ in: "1" });
        await home.write("bin/find", '#!/bin/sh\necho "$*" >>"$HOME/found"\nexec /usr/bin/find "$@"\n');
        await chmod(home.path("bin/find"), 0o755);
        for (const key of [A, B, C]) await spool.job(key, "cat in", "t");
        await spool.run();
        expect(existsSync(home.path("found"))).toBe(false);
      },
    );

    test.skipIf(shell.hasOnlyBusybox)(
      "if the process that sees changes is killed, they are still seen",
      async () => {
        await tree({ in: "1" });
        // A grandchild of the loop. Plain slots have none.
        const killDu =
          'children() { cat /proc/$1/task/$1/children; }; read -r loop _ <../loop; for p in $(children $loop); do for q in $(children $p); do read -r name </proc/$q/comm; [ "$name" != du ] || { kill -KILL "$q" && echo >"$HOME/killed"; }; done; done';
        await spool.job(A, `${killDu}; stat -c %i .`, "t");
        await spool.job(B, "stat -c %i .; chmod 600 in", "t");
        await spool.job(C, "stat -c '%i %a' . in", "t");
        await chmod(home.path(".sshoal/trees/t/in"), 0o644);
        await spool.start().ended; // the shell may print "Killed"
        expect(existsSync(home.path("killed"))).toBe(!HAS_PLAIN_SLOTS);
        const [first, second, third] = await Promise.all(
          [A, B, C].map((key) => spool.read(`jobs/${key}/out`)),
        );
        expect(second).toBe(first);
        expect(third).toMatch(/ 644\n$/);
        expect(await spool.results(B)).toEqual(["in"]);
      },
    );

    test("if the removal of inputs from results was killed, it is done again", async () => {
      await tree({ same: "1", "d/same": "1" });
      await spool.job(A, "true", "t");
      const slot = `.sshoal/batches/${BATCH}@${HOST}/slots/0`;
      await home.write(`${slot}/keeper`, `9999999 1 ${BOOT_ID} ${A}\n`);
      await home.write(`${slot}/code`, `${BATCH}/${A}. 0\n`);
      const work = join(spool.dir, "jobs", A, "work");
      execFileSync("cp", ["-a", home.path(".sshoal/trees/t"), work]);
      await home.write(`${slot}/fresh`, "");
      await until("the clock has moved on", () => {
        writeFileSync(join(work, "made"), "");
        return statSync(join(work, "made")).ctimeMs > statSync(home.path(slot, "fresh")).mtimeMs;
      });
      await home.write(`.sshoal/batches/${BATCH}@${HOST}/jobs/${A}/claim`, "slot 0\n");
      await spool.run();
      expect(await spool.read(`jobs/${A}/exit`)).toBe("0\n");
      expect(await spool.results(A)).toEqual(["made"]);
    });

    test("with another tree, the next job gets that one, and nothing of the first", async () => {
      await tree({ old: "1" });
      await home.write(".sshoal/trees/u/new", "2");
      await spool.job(A, "ls", "t");
      await spool.job(B, "ls", "u");
      await spool.job(C, "ls -A | wc -l");
      await spool.run();
      const said = await Promise.all([A, B, C].map((key) => spool.read(`jobs/${key}/out`)));
      expect(said.map((each) => each.trim())).toEqual(["old", "new", "0"]);
    });

    test("a copy that was not finished when everything was killed is made again", async () => {
      await tree({ in: "whole" });
      await home.write(`.sshoal/batches/${BATCH}@${HOST}/slots/0/work/in`, "wh");
      await home.write(`.sshoal/batches/${BATCH}@${HOST}/slots/0/copied`, "");
      await spool.job(A, "cat in", "t");
      await spool.run();
      expect(await spool.read(`jobs/${A}/out`)).toBe("whole");
    });

    test("a clock that is set back to before the copy hides no result", async () => {
      await tree({ in: "1", other: "1" });
      // For the slot this is the same: its stamp is in the future.
      await spool.job(A, "printf 2 >in; touch -d '+1 hour' ../fresh || touch -d 2037-01-01 ../fresh", "t");
      await spool.run();
      expect(await spool.results(A)).toEqual(["in"]);
    });
  });

  test("if the promised tree is missing, the job fails, and its stderr has the reason", async () => {
    await mkdir(home.path(".sshoal/trees/t"), { recursive: true });
    await spool.job(A, "echo ran >>../ran", "t");
    await rm(home.path(".sshoal/trees/t"), { recursive: true });
    await spool.job(B, "echo next");
    await spool.run();
    expect(await spool.read(`jobs/${A}/exit`)).toBe("125\n");
    expect(await spool.read(`jobs/${B}/exit`)).toBe("0\n");
    expect(await spool.read(`jobs/${A}/err`)).toContain("sshoal: the working directory could not be copied");
    expect(spool.exists(`jobs/${A}/ran`)).toBe(false);
  });
});
