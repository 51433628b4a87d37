// What jobs print and leave running, and what login shells print.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { LIGHT_NO_GPU, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { useMachine } from "../rig/one-machine.js";
import { killAll } from "../rig/processes.js";
import { startSshd } from "../rig/sshd.js";
import { until } from "../rig/until.js";

const { host, work, seen } = useMachine(() => startSshd({ name: "box" }));

async function argsFor(jobs: readonly string[], on = host): Promise<string[]> {
  await work.write("jobs.sh", jobs.map((job) => `${job}\n`).join(""));
  return ["jobs.sh", "--machines", await on.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU];
}

async function run(jobs: readonly string[], on = host) {
  const result = await runCommand(await argsFor(jobs, on), { cwd: work.dir });
  expect(result.code, result.stdout + result.stderr).toBe(0);
  return result;
}

function out(line: number): Promise<string> {
  return work.read(`job_results/jobs.sh.${line}.out`);
}

describe("output", () => {
  test("200 MB of it, while the client stays below 150 MB of memory", async () => {
    const lines = 20_000_000;
    const command = spawnCommand(await argsFor([`yes 123456789 | head -n ${lines}`]), { cwd: work.dir });
    let peakMb = 0;
    const timer = setInterval(() => {
      peakMb = Math.max(peakMb, peakMbOf(command.child.pid));
    }, 20);
    const { code, stderr } = await command.ended;
    clearInterval(timer);
    expect(code, stderr).toBe(0);
    const { stdout } = spawnSync("sh", ["-c", "wc -c < $0; uniq $0", "job_results/jobs.sh.1.out"], {
      cwd: work.dir,
      encoding: "utf8",
    });
    expect(stdout).toBe(`${lines * 10}\n123456789\n`);
    expect(peakMb).toBeGreaterThan(10);
    expect(peakMb).toBeLessThan(150);
  });

  test("60 MB of it, shown to a slow reader: nothing accumulates in the client", async () => {
    const lines = 300_000;
    const other = `${waitFor(seen.path("go"))}; echo still there >&2; ${waitFor(seen.path("done"))}`;
    const args = await argsFor([`yes $(printf %0199d 7) | head -n ${lines}`, other]);
    const command = spawnCommand([...args, "--tee"], { cwd: work.dir });
    command.child.stdout.pause();
    await until("it is here, and not read", () => existsSync(work.path("job_results/jobs.sh.1")));
    await seen.write("go", "");
    await command.until(({ stderr }) => stderr().includes("jobs.sh.2: still there\n"));
    await seen.write("done", "");
    let peakMb = 0;
    command.child.stdout.on("data", () => {
      peakMb = Math.max(peakMb, peakMbOf(command.child.pid));
    });
    command.child.stdout.resume();
    const { code, stdout } = await command.ended;
    expect(code).toBe(0);
    expect(stdout.split("\n").filter((line) => /^jobs\.sh\.1: 0{198}7$/.test(line))).toHaveLength(lines);
    expect(peakMb).toBeGreaterThan(10);
    expect(peakMb).toBeLessThan(150);
  });

  test("binary, whether it arrives while the job runs or after", async () => {
    const job = "head -c 300000 /dev/urandom | tee copy.bin; head -c 100000 /dev/urandom | tee err.bin >&2";
    const command = spawnCommand(
      await argsFor([`${job}; ${waitFor(seen.path("go"))}; printf '\\377\\0'`, job]),
      {
        cwd: work.dir,
      },
    );
    const growing = work.path("job_results/jobs.sh.1.out");
    await until("it is here", async () => (await readFile(growing).catch(() => "")).length === 300_000);
    await seen.write("go", "");
    expect((await command.ended).code).toBe(0);
    for (const line of [1, 2]) {
      const [bytes, errors, copy, errorCopy] = await Promise.all(
        [`${line}.out`, `${line}.err`, `${line}/copy.bin`, `${line}/err.bin`].map((name) =>
          readFile(work.path(`job_results/jobs.sh.${name}`)),
        ),
      );
      expect(
        bytes?.equals(
          Buffer.concat(line === 1 ? ([copy, Buffer.from([255, 0])] as Buffer[]) : [copy as Buffer]),
        ),
      ).toBe(true);
      expect(errors?.equals(errorCopy as Buffer)).toBe(true);
    }
  });

  test("that looks like the protocol between client and machine", async () => {
    const text = [
      "end 0",
      "ready",
      "done",
      "data 5000000000001-1-1 out 0 5",
      "taken 5000000000002-2-1",
      "ended 5000000000001-1-1 0 0 10",
      "started 5000000000009-9-1 0",
      "sent everything",
    ];
    const say = `printf '%s\\n' ${text.map((line) => `'${line}'`).join(" ")}`;
    const command = spawnCommand(
      await argsFor([`${say}; ${say} >&2; ${waitFor(seen.path("go"))}; ${say}`, say]),
      {
        cwd: work.dir,
      },
    );
    const said = `${text.join("\n")}\n`;
    await until("it is here", async () => (await out(1).catch(() => "")) === said);
    await seen.write("go", "");
    expect((await command.ended).code).toBe(0);
    expect(await out(1)).toBe(said + said);
    expect(await work.read("job_results/jobs.sh.1.err")).toBe(said);
    expect(await out(2)).toBe(said);
  });

  test("without a newline at its end, or none at all", async () => {
    await run(["printf abc", "true", "printf '\\n\\n'"]);
    expect([await out(1), await out(2), await out(3)]).toEqual(["abc", "", "\n\n"]);
  });
});

/** VmHWM: the peak. Zero once the process has ended. */
function peakMbOf(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

describe("a job that leaves", () => {
  test("children behind: they end with it, and the batch does not wait for them", async () => {
    await run([
      `sleep 1000 & sleep 1000 & echo left`,
      `(sleep 1000; touch ${seen.path("late")}) & disown; echo left too`,
    ]);
    expect([await out(1), await out(2)]).toEqual(["left\n", "left too\n"]);
    await until("nothing runs there any more", () => host.pids().length === 0);
  });

  test("children that ignore SIGTERM", async () => {
    await run([`(trap '' TERM; touch ${seen.path("deaf")}; sleep 1000) & ${waitFor(seen.path("deaf"))}`]);
    await until("nothing runs there any more", () => host.pids().length === 0);
  });

  test("a daemon in its own session: the batch does not wait for it", async () => {
    onTestFinished(() => killAll(host.pids()));
    await run([
      `setsid sh -c 'touch ${seen.path("up")}; exec sleep 1000' & ${waitFor(seen.path("up"))}; echo left`,
    ]);
    expect(await out(1)).toBe("left\n");
  });
});

describe("a login shell", () => {
  for (const shell of ["fish", "tcsh", "zsh", "dash"]) {
    const isThere = spawnSync("sh", ["-c", `command -v ${shell}`]).status === 0;
    if (!isThere)
      console.warn(`SKIPPED: ${shell} as login shell, since it is not installed: apt install ${shell}`);
    test.skipIf(!isThere)(`of another kind: ${shell}`, async () => {
      const other = await startSshd({ name: "other", loginShell: shell });
      onTestFinished(() => other.stop());
      await work.write("in.txt", "input\n");
      await run([`cat in.txt; a=(1 2); echo \${a[1]} $((1 + 1)); echo made > made.txt`, "echo two"], other);
      expect(await out(1)).toBe("input\n2 2\n");
      expect(await work.read("job_results/jobs.sh.1/made.txt")).toBe("made\n");
      await until("nothing runs there any more", () => other.pids().length === 0);
    });
  }

  test("that greets, complains and asks: none of it disturbs", async () => {
    const other = await startSshd({ name: "noisy", loginShell: "bash" });
    onTestFinished(() => other.stop());
    const noise = "Last login: never\nend 0\ndone\nwant\n\u001b[31mred\u001b[0m no newline";
    await writeFile(join(other.homeDir, "noise"), noise);
    await writeFile(
      join(other.homeDir, ".bashrc"),
      "cat ~/noise; cat ~/noise >&2; read -t 0.01 answer </dev/null; alias tar=false; export GREP_OPTIONS=--color=always; cd /tmp; umask 077; set -o noclobber; IFS=:\n",
    );
    await work.write("in.txt", "input\n");
    await run(["cat in.txt; echo made > made.txt"], other);
    expect(await out(1)).toBe("input\n");
    expect(await work.read("job_results/jobs.sh.1/made.txt")).toBe("made\n");
  });

  test("that runs no commands", async () => {
    const other = await startSshd({ name: "closed", config: ["ForceCommand echo This account is closed."] });
    onTestFinished(() => other.stop());
    const { code, stderr } = await runCommand(await argsFor(["true"], other), { cwd: work.dir });
    expect(stderr).toMatch(/WARNING: closed\.yaml is left out: .*This account is closed\./);
    expect(code).toBe(3);
  });
});
