// The lock for machines without flock: a file that names its holder.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runtimeFile } from "../../../src/remote/runtime-files.js";
import { until } from "../../rig/until.js";
import { BOOT_ID, HOST, type Home, liveLine, makeHome, SHELLS } from "./a-spool.js";

const LIBRARY = [runtimeFile("own.sh"), runtimeFile("lib.sh")].join("\n");

describe.each(SHELLS.filter(([, shell]) => shell.hasOnlyBusybox))("under %s", (_, shell) => {
  let home: Home;
  beforeEach(async () => {
    home = await makeHome(shell);
  });
  afterEach(() => home.remove());

  /** Resolves when the command has run under the lock. */
  function underLock(command: string, bin = "bin"): Promise<unknown> {
    return run(`with_lock "$HOME/l" eval '${command}'`, bin);
  }

  function run(lines: string, bin = "bin"): Promise<unknown> {
    const script = `root=$HOME/.sshoal\n${LIBRARY}\n${lines}`;
    const child = spawn("sh", ["-c", script], {
      env: { ...home.env, PATH: `${home.path(bin)}:${home.env.PATH}` },
      stdio: "inherit",
    });
    return new Promise((resolve) => child.once("close", resolve));
  }

  /** From now on each check of the lock waits for "go" instead of a second. */
  async function holdUpLooks(): Promise<void> {
    const text = '#!/bin/sh\necho >>"$HOME/looked"\nuntil [ -e "$HOME/go" ]; do /bin/sleep 0.02; done\n';
    await home.write("bin/sleep", text);
    await chmod(home.path("bin/sleep"), 0o755);
  }

  test("after waiting for a dead holder, a process writes its own start, not that of the holder", async () => {
    await holdUpLooks();
    const holder = spawn("/bin/sleep", ["600"], { stdio: "ignore" });
    const isGone = new Promise((resolve) => holder.once("close", resolve));
    await home.write("l.held", liveLine(holder.pid as number));
    const done = underLock('is_live "$lock_file.held"; echo "$? $live_pid $$" >"$HOME/seen"');
    await until("it waits", () => existsSync(home.path("looked")));
    holder.kill("SIGKILL");
    await isGone;
    await home.write("go", "");
    await done;
    const [status, named, own] = (await home.read("seen")).trim().split(" ");
    expect([status, named]).toEqual(["0", own]);
  });

  test("a lock whose holder has not written its name yet is not taken from it", async () => {
    await holdUpLooks();
    await home.write("l.held", "");
    const done = underLock('[ ! -e "$HOME/released" ] || true >"$HOME/in-turn"');
    await until("it waits", () => existsSync(home.path("looked")));
    expect(existsSync(home.path("l.held"))).toBe(true);
    const holder = spawn("/bin/sleep", ["600"], { stdio: "ignore" });
    await home.write("l.held", liveLine(holder.pid as number));
    await home.write("go", "");
    await until("it looks again", async () => (await home.read("looked")).length > 2);
    await home.write("released", "");
    holder.kill("SIGKILL");
    await done;
    expect(existsSync(home.path("in-turn"))).toBe(true);
  });

  test("a holder that frees the lock and takes it again at once never shares it with another one", async () => {
    await home.write("bin/sleep", "#!/bin/sh\nexec /bin/sleep 0.01\n");
    await chmod(home.path("bin/sleep"), 0o755);
    const inTurn = 'mkdir "$HOME/inside" || echo >>"$HOME/shared"; rmdir "$HOME/inside"';
    const loop = `for _ in $(seq 25); do with_lock "$HOME/l" eval '${inTurn}'; done 2>/dev/null`;
    await Promise.all([1, 2, 3, 4].map(() => run(loop)));
    expect(existsSync(home.path("shared"))).toBe(false);
    expect(existsSync(home.path("l.held"))).toBe(false);
  });

  test("of two processes that free the lock of a dead holder, none removes the lock of the other", async () => {
    const log = async (name: string) => (await home.read(name).catch(() => "")).length;
    const waits = (what: string) => `until [ -e "$HOME/${what}" ]; do /bin/sleep 0.02; done`;
    const slow = `case $* in *.held) echo >>"$HOME/removes"; ${waits("go")} ;; esac`;
    await home.write("slow/rm", `#!/bin/sh\n${slow}\nexec /bin/rm "$@"\n`);
    await home.write("bin/sleep", '#!/bin/sh\necho >>"$HOME/looked"\nexec /bin/sleep 0.02\n');
    const holder = spawn("true");
    await new Promise((resolve) => holder.once("close", resolve));
    await home.write("l.held", `${holder.pid} 1 ${BOOT_ID}@${HOST}\n`);
    const command = `mkdir "$HOME/alone" || true >"$HOME/both"; ${waits("end")}; rmdir "$HOME/alone"`;
    const first = underLock(command, "slow");
    await until("it is about to remove the lock", async () => (await log("removes")) > 0);
    const second = underLock(command);
    const isInOrLooks = async (mark: string) => {
      const before = await log("looked");
      await until(mark, async () => existsSync(home.path(mark)) || (await log("looked")) > before + 3);
    };
    await isInOrLooks("alone");
    await home.write("go", "");
    await until("one has it", () => existsSync(home.path("alone")));
    await isInOrLooks("both");
    await home.write("end", "");
    await Promise.all([first, second]);
    expect(existsSync(home.path("both"))).toBe(false);
  });
});
