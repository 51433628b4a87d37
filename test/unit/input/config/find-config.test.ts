import { chmod, chown, mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadConfigFile } from "../../../../src/input/config/config-file.js";
import { findConfig } from "../../../../src/input/config/find-config.js";
import { machinesSeenFrom, pathSeenFrom } from "../../../../src/input/config/seen-from.js";
import { type InputBox, makeInputBox } from "../input-box.js";

const isRoot = process.getuid?.() === 0;
const uid = process.geteuid?.() ?? 0;

let box: InputBox;
beforeEach(async () => {
  box = await makeInputBox();
});
afterEach(() => box.remove());

describe("where files are", () => {
  function find(cwd: string | null, configHome?: string) {
    return findConfig({ cwd, homeDir: box.homeDir, configHome, uid });
  }

  test("that of the user is in ~/.config or in XDG_CONFIG_HOME", async () => {
    const path = await box.write("home/.config/sshoal/config.yaml", "");
    expect(find(box.cwd)[0]).toEqual({ level: "user", path, isThere: true });
    expect(find(box.cwd, "relative")[0]).toMatchObject({ path });
    const elsewhere = join(box.root, "xdg/sshoal/config.yaml");
    expect(find(box.cwd, join(box.root, "xdg"))[0]).toEqual({
      level: "user",
      path: elsewhere,
      isThere: false,
    });
  });

  test("without a home directory there is none of the user", () => {
    expect(findConfig({ cwd: box.cwd, homeDir: "", configHome: undefined, uid })[0]).toMatchObject({
      isThere: false,
    });
  });

  test("that of a project is the nearest one above the working directory", async () => {
    const sub = join(box.cwd, "a/b");
    await mkdir(sub, { recursive: true });
    expect(find(sub)[1]).toEqual({ level: "project", path: join(sub, ".sshoal.yaml"), isThere: false });
    const far = await box.write("project/.sshoal.yaml", "");
    expect(find(sub)[1]).toEqual({ level: "project", path: far, isThere: true });
    const near = await box.write("project/a/.sshoal.yaml", "");
    expect(find(sub)[1]).toMatchObject({ path: near });
  });

  test("a file that ends in .yml is refused, unless one that ends in .yaml is beside it", async () => {
    const user = await box.write("home/.config/sshoal/config.yml", "");
    const project = await box.write("project/.sshoal.yml", "");
    const places = find(box.cwd);
    expect(places.map(({ path, isThere }) => [path, isThere])).toEqual([
      [user, true],
      [project, true],
    ]);
    expect(places.flatMap((place) => loadConfigFile(place, uid).problems)[1]).toEqual({
      where: project,
      message: "the name of a configuration file ends in .yaml",
      hint: `mv ${project} ${join(box.cwd, ".sshoal.yaml")}`,
    });
    const right = await box.write("project/.sshoal.yaml", "");
    expect(find(box.cwd)[1]).toMatchObject({ path: right });
  });

  test("the home directory is the last one, also if a link leads to it", async () => {
    await box.write(".sshoal.yaml", "");
    const sub = join(box.homeDir, "p");
    await mkdir(sub);
    expect(find(sub)[1]).toMatchObject({ isThere: false });
    await symlink(box.homeDir, join(box.root, "link"));
    const linked = findConfig({ cwd: sub, homeDir: join(box.root, "link"), configHome: undefined, uid });
    expect(linked[1]).toMatchObject({ isThere: false });
    const own = await box.write("home/.sshoal.yaml", "");
    expect(find(sub)[1]).toMatchObject({ path: own, isThere: true });
  });

  test("a working directory that was removed has no project", () => {
    expect(find(null)).toHaveLength(1);
  });
});

describe("files that are not read", () => {
  /** Of the project. */
  function problems() {
    const place = { level: "project", path: join(box.cwd, ".sshoal.yaml"), isThere: true } as const;
    return loadConfigFile(place, uid).problems.map(({ where, message, hint }) => [
      where,
      message,
      hint ?? null,
    ]);
  }

  test("because others can write the file", async () => {
    const path = await box.write("project/.sshoal.yaml", "timeout: 1h\n");
    expect(problems()).toEqual([]);
    await chmod(path, 0o646);
    const message = "other accounts can write it, and could make sshoal run commands as you";
    expect(problems()).toEqual([[path, message, `chmod go-w ${path}`]]);
  });

  test("because others can write its directory, unless it is sticky", async () => {
    const path = await box.write("project/.sshoal.yaml", "timeout: 1h\n");
    await chmod(box.cwd, 0o777);
    const message = `other accounts can write its directory ${box.cwd}, and could make sshoal run commands as you`;
    expect(problems()).toEqual([[path, message, `chmod go-w ${box.cwd}`]]);
    await chmod(box.cwd, 0o1777);
    expect(problems()).toEqual([]);
  });

  test.skipIf(!isRoot)("because a group can write them, but not for the user's own group", async () => {
    const path = await box.write("project/.sshoal.yaml", "timeout: 1h\n");
    await chmod(path, 0o664);
    expect(problems()).toEqual([]);
    await chown(path, 0, 1234);
    expect(problems()).toHaveLength(1);
  });

  test.skipIf(!isRoot)("because they belong to another account, also behind a link", async () => {
    const message = "it belongs to another account, which could make sshoal run commands as you";
    const path = await box.write("project/.sshoal.yaml", "timeout: 1h\n");
    await chown(path, 1234, 1234);
    expect(problems()).toMatchObject([[path, message, expect.stringContaining("chown it to you")]]);
    await box.write("project/sub/.sshoal.yaml", "timeout: 1h\n");
    await symlink(path, join(box.cwd, "sub/link.yaml"));
    const place = { level: "project", path: join(box.cwd, "sub/link.yaml"), isThere: true } as const;
    expect(loadConfigFile(place, 0).problems).toMatchObject([{ message }]);
    await chown(path, 0, 0);
    await chown(box.cwd, 1234, 1234);
    expect(problems()).toMatchObject([
      [path, expect.stringMatching(/^its directory .* belongs to another/), expect.anything()],
    ]);
  });

  test("because they are no text files", async () => {
    const path = await box.write("project/.sshoal.yaml", "\0");
    expect(problems()).toEqual([[`${path}:1:1`, "is binary: it holds a NUL byte", "give a text file"]]);
    await box.write("project/.sshoal.yaml", `# ${"x".repeat(2 ** 20)}`);
    expect(problems()).toMatchObject([
      [path, expect.stringMatching(/^is too large for a configuration file/), null],
    ]);
    await box.remove();
    await mkdir(join(box.cwd, ".sshoal.yaml"), { recursive: true });
    expect(problems()).toEqual([[path, "is not a file", `ls -ld ${path}`]]);
  });

  test("because a link leads nowhere", async () => {
    const path = join(box.cwd, ".sshoal.yaml");
    await symlink("nowhere", path);
    expect(problems()).toEqual([[path, "the configuration file cannot be read: ENOENT", `ls -lL ${path}`]]);
  });
});

describe("what a file names", () => {
  test("machine files beside the configuration file come first, all else is as typed", async () => {
    const directory = join(box.root, "conf");
    const own = await box.write("conf/machines/gpu1.yaml", "");
    const lab = await box.write("conf/lab/a.yaml", "");
    const from = (word: string, cwd = box.cwd) =>
      machinesSeenFrom(word, { directory, cwd, homeDir: box.homeDir });
    expect(from("gpu1")).toEqual([own]);
    expect(from("gpu1.yaml,gpu2")).toEqual([own, "gpu2"]);
    expect(from("lab/a.yaml")).toEqual([lab]);
    expect(from("./b.yaml")).toEqual([join(directory, "b.yaml")]);
    for (const word of ["gpu2", "ada@gpu2:22", "/m.yaml", "~/m.yaml", "@lab"])
      expect(from(word)).toEqual([word]);
    expect(from("gpu1,@lab")).toEqual([own, "@lab"]);
    expect(from("gpu1", directory)).toEqual(["gpu1"]);
    expect(from("gpu1,@lab", directory)).toEqual(["gpu1", "@lab"]);
  });

  test("an ssh configuration", () => {
    const seen = { directory: "/conf", cwd: "/", homeDir: "/home/ada" };
    expect(["lab.conf", "../x", "/x", "~/x", "none"].map((path) => pathSeenFrom(path, seen))).toEqual([
      "/conf/lab.conf",
      "/x",
      "/x",
      "~/x",
      "none",
    ]);
  });
});
