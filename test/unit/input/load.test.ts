import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ExitCode, UserError } from "../../../src/errors.js";
import { loadBatch, loadMachines, localMachine } from "../../../src/input/load.js";

let root: string;
let cwd: string;
let homeDir: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "sshoal-load-"));
  cwd = join(root, "project");
  homeDir = join(root, "home");
  await mkdir(cwd);
  await mkdir(homeDir);
  await chmod(root, 0o755);
});

afterEach(() => rm(root, { recursive: true }));

async function write(path: string, content: string | Uint8Array): Promise<string> {
  const absolute = join(root, path);
  await mkdir(dirname(absolute), { recursive: true });
  await writeFile(absolute, content);
  return absolute;
}

function load(...names: string[]) {
  return loadMachines(names, { cwd, homeDir, username: "me" });
}

async function errorOf(loading: Promise<unknown>): Promise<UserError> {
  const error = await loading.then(
    () => new Error("expected an error"),
    (reason: unknown) => reason,
  );
  if (!(error instanceof UserError)) throw error;
  expect(error.exitCode).toBe(ExitCode.BadInput);
  return error;
}

async function mistakesOf(...names: string[]): Promise<string[]> {
  return (await errorOf(load(...names))).message.split("\n").map((line) => line.replaceAll(root, "ROOT"));
}

const isRoot = process.getuid?.() === 0;
/** Root may read everything, so that for a while we are someone else. */
async function asOrdinaryUser<T>(work: () => Promise<T>): Promise<T> {
  if (isRoot) process.seteuid?.(65534);
  try {
    return await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

describe("loading a batch", () => {
  test("names the jobs for the path as it was typed", async () => {
    const path = await write("project/run.sh", "echo a\n");
    expect(await loadBatch(path)).toEqual([
      { line: 1, name: `${path.replaceAll("/", "_")}.1`, command: "echo a" },
    ]);
  });

  test("a script that is not there: the nearest one is offered", async () => {
    await write("project/batch_script.sh", "a");
    const path = join(cwd, "batch_scirpt.sh");
    const error = await errorOf(loadBatch(path));
    expect(error.message).toBe(`${path}: there is no such script`);
    expect(error.hint).toBe(`did you mean ${join(cwd, "batch_script.sh")}?`);
  });

  test("a script that is not there, and nothing like it", async () => {
    const error = await errorOf(loadBatch(join(cwd, "x.sh")));
    expect(error.hint).toBe(`check the path with ls ${cwd}`);
  });

  test("a script below a file", async () => {
    const path = await write("project/run.sh", "a");
    expect((await errorOf(loadBatch(`${path}/x.sh`))).message).toMatch(/no such script$/);
  });

  test("a link that leads nowhere is not offered instead of itself", async () => {
    await symlink("gone", join(cwd, "run.sh"));
    expect((await errorOf(loadBatch(join(cwd, "run.sh")))).hint).toMatch(/^check the path/);
  });

  test("a directory", async () => {
    const error = await errorOf(loadBatch(cwd));
    expect(error.message).toBe(`${cwd}: is a directory, not a script`);
    expect(error.hint).toBe("name the script in it");
  });

  test("a script that may not be read", async () => {
    const path = await write("project/run.sh", "a");
    await chmod(path, 0);
    const error = await asOrdinaryUser(() => errorOf(loadBatch(path)));
    expect(error.message).toBe(`${path}: the script cannot be read`);
    expect(error.hint).toBe(`ls -l ${path}`);
  });

  test("a link to itself", async () => {
    await symlink("loop.sh", join(cwd, "loop.sh"));
    expect((await errorOf(loadBatch(join(cwd, "loop.sh")))).message).toMatch(/cannot be read$/);
  });

  test("a script without jobs", async () => {
    expect((await errorOf(loadBatch(await write("project/run.sh", "")))).message).toMatch(/no job in it$/);
  });
});

describe("finding machine files", () => {
  test.each([
    ["as given", "m1.yaml", "project/m1.yaml"],
    ["as given, without an ending", "m1", "project/m1"],
    ["with .yaml", "m1", "project/m1.yaml"],
    ["with .yml", "m1", "project/m1.yml"],
    ["in machines/", "m1.yaml", "project/machines/m1.yaml"],
    ["in machines/, with an ending", "m1", "project/machines/m1.yml"],
    ["in ~/.local/var", "m1", "home/.local/var/m1.yaml"],
    ["below machines/", "lab/m1", "project/machines/lab/m1.yaml"],
    ["in the home", "~/m1.yaml", "home/m1.yaml"],
    ["above", "../m1", "m1.yaml"],
  ])("%s", async (_, name, path) => {
    await write(path, "ip: found\n");
    expect(await load(name)).toMatchObject([{ address: { host: "found" } }]);
  });

  test("the nearer place wins", async () => {
    await write("home/.local/var/m1.yaml", "ip: home\n");
    await write("project/machines/m1.yaml", "ip: machines\n");
    expect(await load("m1")).toMatchObject([{ address: { host: "machines" } }]);
    await write("project/m1.yml", "ip: here\n");
    expect(await load("m1")).toMatchObject([{ address: { host: "here" } }]);
  });

  test("a directory of that name is passed over", async () => {
    await write("project/machines/machines.yaml", "ip: found\n");
    expect(await load("machines")).toMatchObject([{ name: "machines.yaml" }]);
  });

  test("an absolute path", async () => {
    expect(await load(await write("else/m1.yaml", "ip: found\n"))).toMatchObject([{ name: "m1.yaml" }]);
  });

  test("a directory is no machine file", async () => {
    await write("project/machines/m1.yaml", "ip: a\n");
    expect(await mistakesOf("machines")).toEqual([
      "machines: is a directory, not a machine file (name the files in it)",
    ]);
  });

  test("not found: says where it looked, and what is there", async () => {
    await write("project/machines/titan1.yaml", "ip: a\n");
    await write("project/machines/readme.md", "");
    expect(await mistakesOf("titna1", "x.yaml")).toEqual([
      "titna1: there is no such machine file; looked for titna1, titna1.yaml, titna1.yml in ., machines, " +
        "ROOT/home/.local/var (did you mean machines/titan1.yaml?)",
      "x.yaml: there is no such machine file; looked for x.yaml in ., machines, ROOT/home/.local/var " +
        "(there are machines/titan1.yaml)",
    ]);
  });

  test("not found: a path's own directory is where others are offered from", async () => {
    await write("else/titan1.yaml", "ip: a\n");
    const [mistake] = await mistakesOf(join(root, "else/titan2"));
    expect(mistake).toMatch(/\(did you mean ROOT\/else\/titan1\.yaml\?\)$/);
  });

  test("an empty name", async () => {
    expect(await mistakesOf("")).toEqual(["--machines: a name is empty (is a variable unset?)"]);
  });

  test("a machine file that may not be read", async () => {
    await chmod(await write("project/m1.yaml", "ip: a\n"), 0);
    const mistakes = await asOrdinaryUser(() => mistakesOf("m1"));
    expect(mistakes).toEqual(["m1.yaml: the machine file cannot be read (ls -l m1.yaml)"]);
  });

  test("a file far too large is not read", async () => {
    await write("project/model.ckpt", Buffer.alloc(70_000));
    expect(await mistakesOf("model.ckpt")).toEqual([
      "model.ckpt: is too large for a machine file (70000 bytes) (name a YAML file)",
    ]);
  });
});

describe("naming machines", () => {
  test("in the order given, by the names of their files", async () => {
    await write("project/b.yaml", "ip: b\n");
    await write("project/machines/a.yaml", "ip: a\n");
    expect((await load("b", "a")).map(({ name }) => name)).toEqual(["b.yaml", "a.yaml"]);
  });

  test("the same name in two directories: by their paths", async () => {
    await write("project/x/m.yaml", "ip: a\n");
    await write("project/y/m.yaml", "ip: b\n");
    expect((await load("x/m.yaml", "y/m")).map(({ name }) => name)).toEqual(["x/m.yaml", "y/m.yaml"]);
  });

  test.each([
    ["as before", "m.yaml", "m.yaml: the machine file is given twice (name each machine once)"],
    ["by another path", "./m.yaml", "./m.yaml: is the same machine file as m.yaml (name each machine once)"],
    ["through a link", "link.yaml", "link.yaml: is the same machine file as m.yaml (name each machine once)"],
  ])("the same file twice, %s", async (_, second, mistake) => {
    await write("project/m.yaml", "ip: a\n");
    await symlink("m.yaml", join(cwd, "link.yaml"));
    expect(await mistakesOf("m.yaml", second)).toEqual([mistake]);
  });

  test("a file's name that cannot name a machine", async () => {
    await write("project/my machine.yaml", "ip: a\n");
    expect(await mistakesOf("my machine")).toEqual([
      'my machine.yaml:1:1: a machine cannot be called "my machine.yaml": no spaces, no dash in front (rename the file)',
    ]);
  });
});

describe("key files", () => {
  test("a key beside the machine file, in the home, or at an absolute path", async () => {
    const key = await write("home/.ssh/id", "key");
    await write("project/machines/id", "key");
    await write("project/machines/a.yaml", "ip: a\nssh_key_path: id\n");
    await write("project/machines/b.yaml", "ip: b\nssh_key_path: ~/.ssh/id\n");
    await write("project/machines/c.yaml", `ip: c\nssh_key_path: ${key}\n`);
    expect(await load("a", "b", "c")).toMatchObject([
      { address: { keyPath: join(cwd, "machines/id") } },
      { address: { keyPath: key } },
      { address: { keyPath: key } },
    ]);
  });

  test("a key that is not there, that is a directory, that may not be read", async () => {
    await chmod(await write("home/.ssh/locked", "key"), 0);
    await write("project/a.yaml", "ip: a\nssh_key_path: ~/.ssh/gone\n");
    await write("project/b.yaml", "ip: b\nssh_key_path: ~/.ssh\n");
    await write("project/c.yaml", "ip: c\n\nssh_key_path: ~/.ssh/locked\n");
    expect(await asOrdinaryUser(() => mistakesOf("a", "b", "c"))).toEqual([
      "a.yaml:2:15: ssh_key_path ROOT/home/.ssh/gone does not exist (ls ROOT/home/.ssh shows what is there)",
      "b.yaml:2:15: ssh_key_path ROOT/home/.ssh is a directory (name the key file in it)",
      "c.yaml:3:15: ssh_key_path ROOT/home/.ssh/locked cannot be read (ls -l ROOT/home/.ssh/locked)",
    ]);
  });
});

test("all the mistakes of all the files come at once", async () => {
  await write("project/a.yaml", "usrname: x\nssh_key_path: gone\n");
  await write("project/b.yaml", "ip: b\n\tport: 2\n");
  await write("project/c.yaml", "ip: c\n");
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

test("with no machine named, it is this one, with nothing held back", () => {
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
    keepFree: { memoryMb: 0, cpus: 0, gpus: 0 },
  });
});
