// Runs slot.sh: jobs whose directories stay (--keep-dir), and what the next attempt finds in them.

import { existsSync, readlinkSync } from "node:fs";
import { chmod, mkdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { pidsWithHome } from "../../rig/processes.js";
import { rebootHost } from "../../rig/reboot-host.js";
import { until } from "../../rig/until.js";
import { SHELLS } from "./a-spool.js";
import { useSpool } from "./own-spool.js";

const FIRST = "0000001-1";
const SECOND = "0000001-2";
const THIRD = "0000001-3";
const OTHER = "0000002-1";

describe.each(SHELLS.filter(([name]) => name !== "bash"))("under %s", (_, shell) => {
  const { home, spool } = useSpool(shell);

  async function tree(name: string, files: Readonly<Record<string, string>>): Promise<void> {
    for (const [path, text] of Object.entries(files)) await home.write(`.sshoal/trees/${name}/${path}`, text);
  }

  test("the next attempt starts with the newer tree, and over it the files that the last one made or changed", async () => {
    await tree("old", { code: "1", settings: "1", "runs/readme": "1", "data/x": "1" });
    await tree("new", { code: "2", settings: "2", "runs/readme": "2", "data/x": "2" });
    const fails = "echo mine >settings; echo 7 >runs/step; mkdir deep; echo 7 >deep/.hidden; exit 1";
    await spool.job(FIRST, fails, "old", { keep: [] });
    await spool.run();
    expect(await spool.results(FIRST)).toEqual(["deep/", "deep/.hidden", "runs/", "runs/step", "settings"]);
    await spool.job(SECOND, "cat code settings runs/readme data/x runs/step deep/.hidden; pwd", "new", {
      keep: [`job ${FIRST}`],
    });
    await spool.job(OTHER, "ls", "new");
    await spool.run();
    const work = join(spool.dir, "jobs", SECOND, "work");
    expect(await spool.read(`jobs/${SECOND}/out`)).toBe(`2mine\n227\n7\n${work}\n`);
    expect(await spool.results(SECOND)).toEqual(["deep/", "deep/.hidden", "runs/", "runs/step", "settings"]);
    expect(await spool.results(FIRST)).toEqual(["runs/"]);
    expect(await spool.read(`jobs/${OTHER}/out`)).toBe("code\ndata\nruns\nsettings\n");
    expect(spool.exists(`jobs/${SECOND}/making`)).toBe(false);
  });

  test("excluded results, and a copy that was sent, are also put over it", async () => {
    await tree("t", { code: "1" });
    await tree("copy", { "runs/step": "7\n", code: "changed\n" });
    await spool.job(FIRST, "exit 1", "t", { keep: [] });
    await spool.run();
    await home.write(
      `${spool.dir.slice(home.dir.length + 1)}/jobs/${FIRST}/aside/9.1/runs/big.ckpt`,
      "weights\n",
    );
    await spool.job(SECOND, "cat code runs/step runs/big.ckpt", "t", { keep: ["tree copy", `job ${FIRST}`] });
    await spool.run();
    expect(await spool.read(`jobs/${SECOND}/out`)).toBe("changed\n7\nweights\n");
    expect(await home.read(".sshoal/trees/copy/runs/step")).toBe("7\n");
  });

  test("no file is written through a link of the tree that the job had replaced", async () => {
    await mkdir(home.path(".sshoal/trees/t"), { recursive: true });
    await home.write("outside/file", "of the user\n");
    await symlink(home.path("outside/file"), home.path(".sshoal/trees/t/file"));
    await symlink(home.path("outside"), home.path(".sshoal/trees/t/dir"));
    await spool.job(FIRST, "rm file dir; echo mine >file; mkdir dir; echo mine >dir/file; exit 1", "t", {
      keep: [],
    });
    await spool.run();
    await spool.job(SECOND, "cat file dir/file; ln -sf elsewhere link", "t", { keep: [`job ${FIRST}`] });
    await spool.run();
    expect(await spool.read(`jobs/${SECOND}/out`)).toBe("mine\nmine\n");
    expect(await home.read("outside/file")).toBe("of the user\n");
    expect(readlinkSync(join(spool.dir, "jobs", SECOND, "work/link"))).toBe("elsewhere");
  });

  test("an attempt that is killed during the takeover leaves all files to the next one", async () => {
    await tree("t", { code: "1", "runs/readme": "1" });
    await spool.job(FIRST, "echo 7 >runs/step; echo 7 >state; exit 1", "t", { keep: [] });
    await spool.run();
    // Stops at the second of the two moves that put the directory over the tree.
    await home.write(
      "bin/mv",
      `#!/bin/sh\ncase $* in *state*) touch "$HOME/stuck"; sleep 600 ;; esac\nexec /bin/mv "$@"\n`,
    );
    await chmod(home.path("bin/mv"), 0o700);
    await spool.job(SECOND, "true", "t", { keep: [`job ${FIRST}`] });
    const loop = spool.start();
    await until("it takes over", () => existsSync(home.path("stuck")));
    rebootHost({ pids: () => pidsWithHome(home.dir), homeDir: home.dir });
    await loop.ended;
    await rm(home.path("bin/mv"));
    await spool.run();
    expect((await spool.read(`jobs/${SECOND}/exit`)).trim()).toBe("lost");
    await spool.job(THIRD, "cat runs/step state", "t", { keep: [`job ${FIRST}`, `job ${SECOND}`] });
    await spool.run();
    expect(await spool.read(`jobs/${THIRD}/out`)).toBe("7\n7\n");
  });

  test("a job that ran out of time, or was killed with its slot, leaves its directory", async () => {
    await tree("t", { code: "1" });
    await home.write(`${spool.dir.slice(home.dir.length + 1)}/jobs/${FIRST}/limit`, "1\n");
    await spool.job(FIRST, "echo 7 >step; sleep 600", "t", { keep: [] });
    await spool.run();
    expect((await spool.read(`jobs/${FIRST}/exit`)).trim()).toBe("timed-out");
    expect(await spool.results(FIRST)).toEqual(["step"]);
    await spool.job(SECOND, "cat step; echo 8 >step; touch $HOME/begun; sleep 600", "t", {
      keep: [`job ${FIRST}`],
    });
    const loop = spool.start();
    await until("it runs", () => existsSync(home.path("begun")));
    rebootHost({ pids: () => pidsWithHome(home.dir), homeDir: home.dir });
    await loop.ended;
    await spool.run();
    expect((await spool.read(`jobs/${SECOND}/exit`)).trim()).toBe("lost");
    expect(await spool.results(SECOND)).toEqual(["step"]);
    expect(await spool.read(`jobs/${SECOND}/work/step`)).toBe("8\n");
  });
});
