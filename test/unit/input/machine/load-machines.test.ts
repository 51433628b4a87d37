import { chmod, mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadMachines } from "../../../../src/input/machine/load-machines.js";
import { localMachine } from "../../../../src/input/machine/plain-machine.js";
import { asOrdinaryUser, errorOf, type InputBox, makeInputBox } from "../input-box.js";

let box: InputBox;
let cwd: string;
let root: string;

beforeEach(async () => {
  box = await makeInputBox();
  cwd = box.cwd;
  root = box.root;
});
afterEach(() => box.remove());

/** Hosts that ssh knows besides the aliases in the configuration. */
const KNOWN = ["known"];

function loadWith(configFile: string | null, ...names: string[]) {
  const knowsHost = async (host: string) => KNOWN.includes(host);
  return loadMachines(names, { cwd, homeDir: box.homeDir, configFile, knowsHost });
}

function load(...names: string[]) {
  return loadWith(null, ...names);
}

async function mistakesOf(...names: string[]): Promise<string[]> {
  return (await errorOf(load(...names))).message.split("\n").map((line) => line.replaceAll(root, "ROOT"));
}

describe("finding machine files", () => {
  test.each([
    ["as given", "m1.yaml", "project/m1.yaml"],
    ["as given, without an ending", "m1", "project/m1"],
    ["with .yaml", "m1", "project/m1.yaml"],
    ["with .yml", "m1", "project/m1.yml"],
    ["in machines/", "m1.yaml", "project/machines/m1.yaml"],
    ["in machines/, with an ending", "m1", "project/machines/m1.yml"],
    ["in ~/.config/sshoal/machines", "m1", "home/.config/sshoal/machines/m1.yaml"],
    ["in ~/.local/var", "m1", "home/.local/var/m1.yaml"],
    ["below machines/", "lab/m1", "project/machines/lab/m1.yaml"],
    ["in the home", "~/m1.yaml", "home/m1.yaml"],
    ["above", "../m1", "m1.yaml"],
  ])("%s", async (_, name, path) => {
    await box.write(path, "ip: found\n");
    expect(await load(name)).toMatchObject([{ address: { host: "found" } }]);
  });

  test("the nearer place takes precedence", async () => {
    await box.write("home/.local/var/m1.yaml", "ip: home\n");
    await box.write("project/machines/m1.yaml", "ip: machines\n");
    expect(await load("m1")).toMatchObject([{ address: { host: "machines" } }]);
    await box.write("project/m1.yml", "ip: here\n");
    expect(await load("m1")).toMatchObject([{ address: { host: "here" } }]);
  });

  test("a directory of that name is skipped", async () => {
    await box.write("project/machines/machines.yaml", "ip: found\n");
    expect(await load("machines")).toMatchObject([{ name: "machines.yaml" }]);
  });

  test("an absolute path", async () => {
    expect(await load(await box.write("else/m1.yaml", "ip: found\n"))).toMatchObject([{ name: "m1.yaml" }]);
  });

  test("a directory is no machine file", async () => {
    await box.write("project/machines/m1.yaml", "ip: a\n");
    expect(await mistakesOf("machines")).toEqual([
      "machines: is a directory, not a machine file (name the files in it)",
    ]);
  });

  test("not found: the error says where it looked, and which files exist", async () => {
    await box.write("project/machines/titan1.yaml", "ip: a\n");
    await box.write("project/machines/readme.md", "");
    await box.write("project/.sshoal.yaml", "");
    expect(await mistakesOf("titna1", "x.yaml")).toEqual([
      "titna1: no machine file (looked for titna1, titna1.yaml, titna1.yml in ., machines, " +
        "ROOT/home/.config/sshoal/machines, ROOT/home/.local/var), and no host that ssh knows (did you mean machines/titan1.yaml?)",
      "x.yaml: there is no such machine file; looked for x.yaml in ., machines, ROOT/home/.config/sshoal/machines, ROOT/home/.local/var " +
        "(there are machines/titan1.yaml)",
    ]);
  });

  test("not found: files of the path's own directory are suggested", async () => {
    await box.write("else/titan1.yaml", "ip: a\n");
    const [mistake] = await mistakesOf(join(root, "else/titan2"));
    expect(mistake).toMatch(/\(did you mean ROOT\/else\/titan1\.yaml\?\)$/);
  });

  test("an empty name", async () => {
    expect(await mistakesOf("")).toEqual(["--machines: a name is empty (is a variable unset?)"]);
  });

  test("a machine file that cannot be read", async () => {
    await chmod(await box.write("project/m1.yaml", "ip: a\n"), 0);
    const mistakes = await asOrdinaryUser(() => mistakesOf("m1"));
    expect(mistakes).toEqual(["m1.yaml: the machine file cannot be read (ls -l m1.yaml)"]);
  });

  test("a file far too large is not read", async () => {
    await box.write("project/model.ckpt", Buffer.alloc(70_000));
    expect(await mistakesOf("model.ckpt")).toEqual([
      "model.ckpt: is too large for a machine file (70000 bytes) (name a YAML file)",
    ]);
  });
});

describe("hosts, named as people name them to ssh", () => {
  const unsaid = { port: null, username: null, keyPath: null, configFile: null, transport: null };

  test("a host that ssh knows: named as typed, without limits", async () => {
    expect(await load("known")).toEqual([
      { ...localMachine(), name: "known", address: { kind: "ssh", host: "known", ...unsaid } },
    ]);
  });

  test.each([
    ["ada@gpu1", { host: "gpu1", username: "ada" }],
    ["ada@gpu1:2222", { host: "gpu1", username: "ada", port: 2222 }],
    ["gpu1.example.org", { host: "gpu1.example.org" }],
    ["192.0.2.1:22", { host: "192.0.2.1", port: 22 }],
    ["[fe80::1]:2222", { host: "fe80::1", port: 2222 }],
    ["ssh://ada@gpu1:2222", { host: "gpu1", username: "ada", port: 2222 }],
  ])("%s can only be a host, and ssh is not asked", async (name, address) => {
    expect(await load(name)).toMatchObject([{ name, file: null, address: { ...unsaid, ...address } }]);
  });

  test("an alias in the configuration needs no look-up", async () => {
    await box.write("home/.ssh/config", "Host gpu1 gpu2\n  User ada\n");
    expect(await load("gpu2")).toMatchObject([{ name: "gpu2", address: { host: "gpu2", ...unsaid } }]);
  });

  test("a machine file of that name takes precedence", async () => {
    await box.write("project/machines/known.yaml", "host: elsewhere\n");
    expect(await load("known")).toMatchObject([{ name: "known.yaml", address: { host: "elsewhere" } }]);
  });

  test("a directory of that name does not matter", async () => {
    await mkdir(join(cwd, "known"));
    expect(await load("known")).toMatchObject([{ address: { host: "known" } }]);
  });

  test("the nearest alias is suggested", async () => {
    await box.write("home/.ssh/config", "Host titan1 *.lab\nHost=saturn\n");
    expect(await mistakesOf("titna1", "jupiter")).toEqual([
      expect.stringMatching(
        /^titna1: no machine file .*, and no host that ssh knows \(did you mean titan1\?\)$/,
      ),
      expect.stringMatching(/^jupiter: .* \(there are titan1, saturn\)$/),
    ]);
  });

  test("without a suggestion, the hint is to try ssh", async () => {
    expect(await mistakesOf("jupiter")).toEqual([expect.stringMatching(/ \(check it with: ssh jupiter\)$/)]);
  });

  test.each(["ada@", "gpu1:0", "gpu1:70000", "gpu 1", "-oProxyCommand=x", "a$(x)", "ada@gpu1:", "ssh://"])(
    "%j is neither",
    async (name) => {
      expect(await mistakesOf(name)).toEqual([
        `${name}: is neither a machine file nor a host (a host is written as name, user@name, user@name:port or ssh://user@name:port)`,
      ]);
    },
  );

  test("a word that looks like a path is a path", async () => {
    for (const name of ["lab/known", "./known", "known.yaml", "known.yml"])
      expect(await mistakesOf(name)).toEqual([expect.stringContaining(": there is no such machine file; ")]);
  });

  test("the same host twice", async () => {
    expect(await mistakesOf("known", "ada@gpu1", "known")).toEqual([
      "known: is given twice (name each machine once)",
    ]);
  });

  test("a file with the name of a host is named by its path", async () => {
    await box.write("project/lab/known", "ip: a\n");
    expect((await load("lab/known", "known")).map(({ name }) => name)).toEqual(["lab/known", "known"]);
  });
});

describe("another ssh configuration", () => {
  test("applies to every machine, as an absolute path", async () => {
    const configFile = await box.write("project/lab.conf", "Host gpu1\n");
    await box.write("project/a.yaml", "host: gpu1\n");
    expect(await loadWith("lab.conf", "a", "gpu1")).toMatchObject([
      { address: { configFile } },
      { address: { configFile } },
    ]);
  });

  test("below the home", async () => {
    const configFile = await box.write("home/lab.conf", "");
    expect(await loadWith("~/lab.conf", "known")).toMatchObject([{ address: { configFile } }]);
  });

  test("none, as in ssh", async () => {
    await box.write("home/.ssh/config", "Host gpu1\n");
    expect(await loadWith("none", "known")).toMatchObject([{ address: { configFile: "/dev/null" } }]);
    await expect(loadWith("none", "gpu1")).rejects.toThrow("no host that ssh knows");
  });

  test("that is missing, unreadable or a directory is reported with all other mistakes", async () => {
    await chmod(await box.write("project/locked.conf", ""), 0);
    const said = async (file: string) =>
      asOrdinaryUser(async () =>
        (await errorOf(loadWith(file, "of-that-file", "x.yaml"))).message.split("\n"),
      );
    for (const [file, problem] of [
      ["gone.conf", "there is no such file"],
      ["locked.conf", "cannot be read"],
      [".", "is a directory"],
    ] as const) {
      const [first, second, ...others] = await said(file);
      expect(others).toEqual([]);
      expect(first).toBe(`-F ${file}: ${problem} (name an ssh configuration file)`);
      expect(second).toMatch(/^x\.yaml: there is no such machine file/);
    }
  });
});

describe("naming machines", () => {
  test("in the order given, by the names of their files", async () => {
    await box.write("project/b.yaml", "ip: b\n");
    await box.write("project/machines/a.yaml", "ip: a\n");
    expect((await load("b", "a")).map(({ name }) => name)).toEqual(["b.yaml", "a.yaml"]);
  });

  test("the same name in two directories: by their paths", async () => {
    await box.write("project/x/m.yaml", "ip: a\n");
    await box.write("project/y/m.yaml", "ip: b\n");
    expect((await load("x/m.yaml", "y/m")).map(({ name }) => name)).toEqual(["x/m.yaml", "y/m.yaml"]);
  });

  test.each([
    ["as before", "m.yaml", "m.yaml: the machine file is given twice (name each machine once)"],
    ["by another path", "./m.yaml", "./m.yaml: is the same machine file as m.yaml (name each machine once)"],
    ["through a link", "link.yaml", "link.yaml: is the same machine file as m.yaml (name each machine once)"],
  ])("the same file twice, %s", async (_, second, mistake) => {
    await box.write("project/m.yaml", "ip: a\n");
    await symlink("m.yaml", join(cwd, "link.yaml"));
    expect(await mistakesOf("m.yaml", second)).toEqual([mistake]);
  });

  test("a file name that cannot name a machine", async () => {
    await box.write("project/my machine.yaml", "ip: a\n");
    expect(await mistakesOf("my machine")).toEqual([
      'my machine.yaml:1:1: a machine cannot be called "my machine.yaml": no spaces, no leading dash (rename the file)',
    ]);
  });
});

describe("key files", () => {
  test("a key beside the machine file, in the home, or at an absolute path", async () => {
    const key = await box.write("home/.ssh/id", "key");
    await box.write("project/machines/id", "key");
    await box.write("project/machines/a.yaml", "ip: a\nssh_key_path: id\n");
    await box.write("project/machines/b.yaml", "ip: b\nssh_key_path: ~/.ssh/id\n");
    await box.write("project/machines/c.yaml", `ip: c\nssh_key_path: ${key}\n`);
    expect(await load("a", "b", "c")).toMatchObject([
      { address: { keyPath: join(cwd, "machines/id") } },
      { address: { keyPath: key } },
      { address: { keyPath: key } },
    ]);
  });

  test("a key that is missing, a directory, or unreadable", async () => {
    await chmod(await box.write("home/.ssh/locked", "key"), 0);
    await box.write("project/a.yaml", "ip: a\nssh_key_path: ~/.ssh/gone\n");
    await box.write("project/b.yaml", "ip: b\nssh_key_path: ~/.ssh\n");
    await box.write("project/c.yaml", "ip: c\n\nssh_key_path: ~/.ssh/locked\n");
    expect(await asOrdinaryUser(() => mistakesOf("a", "b", "c"))).toEqual([
      "a.yaml:2:15: ssh_key_path ROOT/home/.ssh/gone does not exist (list the directory: ls ROOT/home/.ssh)",
      "b.yaml:2:15: ssh_key_path ROOT/home/.ssh is a directory (name the key file in it)",
      "c.yaml:3:15: ssh_key_path ROOT/home/.ssh/locked cannot be read (ls -l ROOT/home/.ssh/locked)",
    ]);
  });
});

test("all mistakes of all files are reported at once", async () => {
  await box.write("project/a.yaml", "usrname: x\nssh_key_path: gone\n");
  await box.write("project/b.yaml", "ip: b\n\tport: 2\n");
  await box.write("project/c.yaml", "ip: c\n");
  const mistakes = await mistakesOf("nowhere", "a", "b", "c", "c");
  expect(mistakes.map((mistake) => mistake.split(": ")[0])).toEqual([
    "nowhere",
    "c",
    "a.yaml:1:1",
    "a.yaml:1:1",
    "a.yaml:2:15",
    "b.yaml:2:1",
  ]);
});

test("no names, no machines", async () => {
  expect(await load()).toEqual([]);
});

test("if no machine is named, it is this computer, without limits", () => {
  expect(localMachine()).toEqual({
    name: "localhost",
    address: { kind: "local" },
    file: null,
    gpus: null,
    excludeGpus: [],
    maxJobs: null,
    scratch: null,
    env: {},
    setup: [],
    hasPlainSlots: false,
    keepFree: { memoryMb: 0, cpus: 0, gpus: 0 },
  });
});
