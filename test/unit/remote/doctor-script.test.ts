import { spawnSync } from "node:child_process";
import { mkdir, symlink } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { MachineSpec } from "../../../src/model/machine.js";
import { doctorScript } from "../../../src/remote/doctor/examine.js";
import { parseDoctor } from "../../../src/remote/doctor/parse-doctor.js";
import { listBelow } from "../../rig/batch.js";
import { killAll, pidsWithHome } from "../../rig/processes.js";
import { until } from "../../rig/until.js";
import { aSpec } from "../plan/a-machine.js";
import { pathWithout } from "./a-local-machine.js";
import { BOOT_ID, type Home, makeHome, SHELLS } from "./a-spool.js";

const NONCE = "sshoal-nonce";
const address: MachineSpec["address"] = {
  kind: "ssh",
  host: "box",
  port: null,
  username: null,
  keyPath: null,
  configFile: null,
  transport: null,
};

describe.each(SHELLS)("under %s", (_, shell) => {
  let home: Home;

  beforeEach(async () => {
    home = await makeHome(shell);
  });
  afterEach(async () => {
    killAll(survivors());
    await home.close();
  });

  /** The sleep that should outlive its connection. */
  function survivors(): number[] {
    return pidsWithHome(home.dir);
  }

  function run(spec: Partial<MachineSpec> = {}, { env = {}, limits = {} } = {}) {
    const all = { seconds: 60, setup_seconds: 60, survivor_seconds: 600, ...limits };
    const script = doctorScript(NONCE, { spec: aSpec({ address, ...spec }) }, all);
    const [file, ...words] = shell.words;
    const askedAt = Date.now();
    const { stdout, stderr } = spawnSync(file, [...words, "-c", 'eval "$1"', "sh", `${script}\ncat`], {
      env: { ...home.env, SHELL: "/bin/zsh", ...env },
      input: "left alone\n",
      encoding: "utf8",
      timeout: 60_000,
    });
    const framed = stdout.split("\n").filter((line) => line.startsWith(`${NONCE} `));
    const lines = framed.map((line) => line.slice(NONCE.length + 1));
    const answer = parseDoctor(lines, { askedAt, answeredAt: Date.now() });
    return { ...answer, lines, stdout, stderr };
  }

  test("an unsafe directory is reported, and nothing is tried in it", async () => {
    await symlink(home.path("elsewhere"), home.path(".sshoal"));
    const { facts, lines } = run();
    expect(lines.at(-1)).toBe("done");
    expect(facts.scratch.unsafe).toBe(`not safe: ${home.path(".sshoal")} is a symbolic link`);
  });

  test("an ordinary machine: everything is known, one sleeper is left, and no file", async () => {
    const before = listBelow(home.dir);
    const { facts, survivor, lines, stdout, stderr } = run(
      {},
      { env: { CUDA_DEVICE_ORDER: "FASTEST_FIRST" } },
    );
    expect(lines.at(-1)).toBe("done");
    expect(facts).toMatchObject({
      system: "Linux",
      loginShell: "/bin/zsh",
      clockAheadMs: 0,
      cudaOrder: "FASTEST_FIRST",
      scratch: { dir: home.dir, unwritable: null, isNoexec: false },
      homeFilesystem: expect.stringMatching(/./),
      setup: null,
      stuckAt: null,
    });
    expect(facts.user).not.toBe("");
    expect(facts.scratch.freeKb).toBeGreaterThan(0);
    expect(facts.missingTools.filter((tool) => !["bash", "flock"].includes(tool))).toEqual([]);
    expect(survivor).toMatchObject({ bootId: BOOT_ID });
    await until("only the survivor is left", () => survivors().join() === survivor?.pid);
    expect(listBelow(home.dir)).toEqual(before);
    expect(stderr).toBe("");
    expect(stdout.endsWith("left alone\n")).toBe(true);
  });

  test("what is no claim is listed, and nothing of it is opened", async () => {
    const own = `.sshoal-claims-${process.getuid?.()}`;
    await home.write(`all/${own}/batch@host.0`, "1 0.01 0 0 0 0 -\nend\n");
    await home.write(`all/${own}/.cards`, "");
    await home.write(`all/${own}/huge@host.0`, "x".repeat(5000));
    await home.write(`all/${own}/odd`, "");
    await symlink("/etc/passwd", home.path(`all/${own}/link@host.0`));
    spawnSync("mkfifo", [home.path(`all/${own}/fifo@host.0`)]);
    await symlink("/etc", home.path("all/.sshoal-claims-77"));
    await mkdir(home.path("all/.sshoal-claims-78"));
    const { facts } = run({}, { env: { SSHOAL_CLAIMS: home.path("all") } });
    const names = facts.oddClaims.map((path) => path.slice(path.lastIndexOf("/") + 1));
    const inside = ["fifo@host.0", "huge@host.0", "link@host.0", "odd"];
    expect(names.sort()).toEqual([".sshoal-claims-77", ".sshoal-claims-78", ...inside]);
  });

  test("setup runs with the machine file's variables, as for a job, and finds its Python", async () => {
    await home.write("venv/bin/python", "#!/bin/sh\n");
    const setup = ["echo noise", 'PATH=$VENV/bin:$PATH; echo "in $PWD" >&2; umask >&2'];
    const { facts } = run({ env: { VENV: home.path("venv") }, setup });
    expect(facts.setup).toMatchObject({ kind: "worked", python: home.path("venv/bin/python") });
    expect(facts.setup).toMatchObject({
      said: [
        expect.stringContaining(`in ${home.dir}/.sshoal-doctor.`),
        process.umask().toString(8).padStart(4, "0"),
      ],
    });
  });

  test("setup that fails: its messages, without ours; none of its processes is left", async () => {
    const { facts, survivor } = run({ setup: ["sleep 1000 &", "no-such-tool --now"] });
    expect(facts.setup).toEqual({
      kind: "failed",
      code: 125,
      said: [expect.stringMatching(/no-such-tool.*not found/)],
    });
    await until("only the survivor is left", () => survivors().join() === survivor?.pid);
  });

  test("setup that takes too long is ended", async () => {
    // The stand-in makes one second short.
    const { facts, survivor } = run({ setup: ["sleep 1000"] }, { limits: { setup_seconds: 1 } });
    expect(facts.setup).toEqual({ kind: "too-long", seconds: 1 });
    await until("only the survivor is left", () => survivors().join() === survivor?.pid);
  });

  test("a tool that hangs costs the later facts, not the earlier ones", async () => {
    await home.write("bin/df", "#!/bin/sh\ntrue >~/hung\nexec /bin/sleep 1000\n");
    // The time is over once it hangs.
    await home.write("bin/sleep", "#!/bin/sh\nuntil [ -e ~/hung ]; do /bin/sleep 0.02; done\n");
    const { facts, lines } = run({ setup: ["true"] }, { limits: { survivor_seconds: 0 } });
    expect(lines.at(-1)).toBe("done");
    expect(facts).toMatchObject({ system: "Linux", setup: null, stuckAt: `the file system of ${home.dir}` });
    killAll(pidsWithHome(home.dir));
  });

  test("a missing scratch directory: the nearest parent is examined, and nothing is created", async () => {
    await mkdir(home.path("disk"));
    const { facts } = run({ scratch: home.path("disk/me/deep") });
    expect(facts.scratch).toMatchObject({ dir: home.path("disk"), unwritable: null });
    expect(listBelow(home.path("disk"))).toEqual([]);
    expect(run({ scratch: "~/disk" }).facts.scratch.dir).toBe(home.path("disk"));
  });

  test("scratch that is not writable: with the tool's message", async () => {
    await home.write("file", "");
    expect(run({ scratch: home.path("file") }).facts.scratch.unwritable).toMatch(/not a directory/i);
    expect(run({ scratch: "/proc/nowhere" }).facts.scratch.unwritable).toMatch(/no such file|cannot|can't/i);
  });

  test("programs that setups often forget to name are searched", async () => {
    await home.write("miniforge3/etc/profile.d/conda.sh", "");
    expect(run().facts.condaDir).toBe(home.path("miniforge3"));
  });

  test("this computer: no connection that could end", async () => {
    expect(run({ address: { kind: "local" } }).survivor).toBeNull();
    await until("no process is left", () => survivors().length === 0);
  });
});

test("missing tools are named", async () => {
  const home = await makeHome({ words: ["dash"] });
  const path = pathWithout(home, "tar", "setsid", "find", "bash");
  const script = doctorScript(NONCE, { spec: aSpec({ address, setup: ["true"] }) });
  const { stdout } = spawnSync("/usr/bin/dash", ["-c", script], {
    env: { PATH: path, HOME: home.dir },
    encoding: "utf8",
  });
  expect(stdout.match(/ missing \S+/g)).toEqual([
    " missing tar",
    " missing find",
    " missing setsid",
    " missing bash",
  ]);
  expect(stdout).not.toContain("survivor");
  expect(stdout).toMatch(/ done\n$/);
  await home.close();
});
