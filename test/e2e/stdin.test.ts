// Commands from stdin: they start while it is open, in the order in which they arrive, and never read it.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseEvents, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { useOwnHome } from "../rig/own-home.js";
import { startSshd } from "../rig/sshd.js";
import { until } from "../rig/until.js";

const own = useOwnHome();

const options = () => ({ cwd: own.work.dir, home: own.home.dir });
/** At least two slots, at any load of this computer, and not many more. */
const ARGS = ["-", "--no-gpu-required", "--memory-required", "1"];
/** One slot. */
const ONE_SLOT = ["-", "--gpus", "0"];

function linesOf(...texts: string[]): string {
  return texts.map((text) => `${text}\n`).join("");
}

test("a job that reads stdin does not consume the commands after it", async () => {
  const stdin = linesOf("head -c 100", "cat", "# no job", "echo four");
  const { code, stdout } = await runCommand(ARGS, { ...options(), stdin });
  expect(code).toBe(0);
  expect(stdout).toContain("3 succeeded, 0 failed");
  expect(await own.work.read("job_results/stdin.1.out")).toBe("");
  expect(await own.work.read("job_results/stdin.2.out")).toBe("");
  expect(await own.work.read("job_results/stdin.4.out")).toBe("four\n");
});

test("a line starts while stdin is open, and the run ends with it", async () => {
  const command = spawnCommand(ONE_SLOT, options());
  command.child.stdin.write("echo one > one\n");
  await until("the first has run", () => existsSync(own.work.path("one")));
  command.child.stdin.write("echo $CUDA_VISIBLE_DEVICES > two; exit 4\nhal");
  await until("the second has run", () => existsSync(own.work.path("two")));
  expect(command.child.exitCode).toBeNull();
  command.child.stdin.end("t_of_a_line 2>/dev/null || echo whole");
  const { code, stdout } = await command.ended;
  expect(code).toBe(1);
  expect(stdout).toContain("2 succeeded, 1 failed");
  expect(await own.work.read("two")).toBe("0\n");
  expect(await own.work.read("job_results/stdin.3.out")).toBe("whole\n");
});

test("--gpus 0 0 1: two jobs at a time on card 0, one on card 1", async () => {
  const job = `echo $SSHOAL_JOB $CUDA_VISIBLE_DEVICES >> begun; ${waitFor(own.work.path("go"))}`;
  const command = spawnCommand(["-", "--gpus", "0", "0", "1"], options());
  command.child.stdin.end(linesOf(job, job, job, "touch later"));
  await until(
    "three run",
    async () => (await own.work.read("begun").catch(() => "")).split("\n").length === 4,
  );
  expect(existsSync(own.work.path("later"))).toBe(false);
  await own.work.write("go", "");
  const { code, stderr } = await command.ended;
  expect(code).toBe(0);
  expect(stderr).toContain("no GPU was found; jobs use the ones in --gpus");
  const begun = (await own.work.read("begun")).trim().split("\n");
  expect(begun.map((line) => line.split(" ")[1]).sort()).toEqual(["0", "0", "1"]);
});

test("jobs begin in the order in which they arrived", async () => {
  const command = spawnCommand(ONE_SLOT, options());
  for (const line of [1, 2, 3]) command.child.stdin.write(`echo ${line} >> order\n`);
  await until("the third has run", async () => (await own.work.read("order").catch(() => "")).includes("3"));
  command.child.stdin.end(linesOf("echo 4 >> order", "echo 5 >> order", "echo 6 >> order"));
  expect((await command.ended).code).toBe(0);
  expect(await own.work.read("order")).toBe("1\n2\n3\n4\n5\n6\n");
});

test("an incomplete command at the end fails as it would in bash, and is reported; the others run", async () => {
  const { code, stderr } = await runCommand(ARGS, { ...options(), stdin: "echo fine\necho 'half\n" });
  expect(code).toBe(1);
  expect(stderr).toMatch(/stdin:2: .*the job will fail/);
  expect(await own.work.read("job_results/stdin.1.out")).toBe("fine\n");
  expect(await own.work.read("job_results/stdin.2.err")).toMatch(/unexpected EOF/);
});

test("an incomplete command while stdin is open is reported as incomplete", async () => {
  const command = spawnCommand(ARGS, options());
  command.child.stdin.write("true\n( echo one\n");
  await command.until(({ stderr }) => stderr().includes("stdin:2: not a whole command yet: bash waits for"));
  command.child.stdin.end("echo two )\n");
  expect((await command.ended).code).toBe(0);
  expect(await own.work.read("job_results/stdin.2.out")).toBe("one\ntwo\n");
});

test("with an empty stdin there is nothing to do", async () => {
  const { code, stdout } = await runCommand(ARGS, { ...options(), stdin: "" });
  expect(code).toBe(0);
  expect(stdout).toContain("0 succeeded, 0 failed");
});

describe("the same again", () => {
  const jobs = () =>
    linesOf("echo one >> ran", `echo two >> ran; ${waitFor(own.work.path("go"))}`, "echo one >> ran");

  test("a batch whose client was killed is resumed: finished and running jobs do not run twice", async () => {
    const first = spawnCommand(ONE_SLOT, options());
    first.child.stdin.write(jobs());
    await first.until(({ stdout }) => stdout().includes("finished: stdin.1"));
    await until("the second runs", async () => (await own.work.read("ran")).includes("two"));
    first.child.kill("SIGKILL");
    await first.ended;
    const again = spawnCommand(ONE_SLOT, options());
    again.child.stdin.end(`${jobs()}echo new >> ran\n`);
    await again.until(({ stdout }) => stdout().includes("job results already exists for line 1"));
    await own.work.write("go", "");
    const { code } = await again.ended;
    expect(code).toBe(0);
    expect(await own.work.read("ran")).toBe("one\ntwo\none\nnew\n");
  });

  test("a client killed after all arrived jobs were done: the same commands do not run again", async () => {
    const two = linesOf("echo one >> ran", "echo two >> ran; exit 3");
    const first = spawnCommand(ONE_SLOT, options());
    first.child.stdin.write(two);
    await first.until(({ stdout }) => stdout().includes("failed: stdin.2"));
    first.child.kill("SIGKILL");
    await first.ended;
    const { code, stdout } = await runCommand(ONE_SLOT, { ...options(), stdin: `${two}echo new >> ran\n` });
    expect(code).toBe(1);
    expect(stdout).toContain("1 succeeded, 0 failed, 2 skipped (1 of them failed before)");
    expect(await own.work.read("ran")).toBe("one\ntwo\nnew\n");
  });

  test("finished jobs stay finished when a second client is killed before they arrived again", async () => {
    const first = spawnCommand(ONE_SLOT, options());
    first.child.stdin.write(linesOf("echo one >> ran", "echo two >> ran", "echo three >> ran"));
    await first.until(({ stdout }) => stdout().includes("finished: stdin.3"));
    first.child.kill("SIGKILL");
    await first.ended;
    const second = spawnCommand(ONE_SLOT, options());
    second.child.stdin.write("echo one >> ran\n");
    await second.until(({ stdout }) => stdout().includes("job results already exists for line 1"));
    second.child.kill("SIGKILL");
    await second.ended;
    const stdin = linesOf("echo one >> ran", "echo two >> ran", "echo three >> ran", "echo four >> ran");
    expect((await runCommand(ONE_SLOT, { ...options(), stdin })).code).toBe(0);
    expect(await own.work.read("ran")).toBe("one\ntwo\nthree\nfour\n");
    // Everything has arrived and is done by now.
    expect((await runCommand(ONE_SLOT, { ...options(), stdin: "echo one >> ran\n" })).code).toBe(0);
    expect(await own.work.read("ran")).toBe("one\ntwo\nthree\nfour\none\n");
  });

  test("a client killed with some done, some failed, one running and one waiting: each runs once", async () => {
    const jobs = () =>
      linesOf(
        "echo one >> ran",
        "echo two >> ran; exit 3",
        `echo three >> ran; ${waitFor(own.work.path("go"))}`,
        "echo four >> ran",
      );
    const first = spawnCommand(ONE_SLOT, options());
    first.child.stdin.write(jobs());
    await first.until(({ stdout }) => stdout().includes("failed: stdin.2"));
    await until("the third runs", async () => (await own.work.read("ran")).includes("three"));
    first.child.kill("SIGKILL");
    await first.ended;
    await own.work.write("go", "");
    await until("the machine went on", async () => (await own.work.read("ran")).includes("four"));
    const { code, stdout } = await runCommand(ONE_SLOT, { ...options(), stdin: jobs() });
    expect(code).toBe(1);
    expect(stdout).toContain("2 succeeded, 0 failed, 2 skipped (1 of them failed before)");
    expect(await own.work.read("ran")).toBe("one\ntwo\nthree\nfour\n");
  });

  test("attach to a pile whose client was killed leaves it open: the same commands do not run again", async () => {
    const first = spawnCommand(ONE_SLOT, options());
    first.child.stdin.write(`echo one >> ran; ${waitFor(own.work.path("go"))}\n`);
    await until("it runs", () => existsSync(own.work.path("ran")));
    first.child.kill("SIGKILL");
    await first.ended;
    await own.work.write("go", "");
    expect((await runCommand(["attach"], { ...options(), program: "sshoal" })).code).toBe(0);
    const stdin = linesOf(`echo one >> ran; ${waitFor(own.work.path("go"))}`, "echo two >> ran");
    expect((await runCommand(ONE_SLOT, { ...options(), stdin })).code).toBe(0);
    expect(await own.work.read("ran")).toBe("one\ntwo\n");
  });

  test("when all jobs are done, the same commands are new jobs, with new numbers", async () => {
    await runCommand(ARGS, { ...options(), stdin: "echo one\n\necho two\n" });
    const { stdout } = await runCommand(ARGS, { ...options(), stdin: "echo one\necho two\n" });
    expect(stdout).toContain("finished: stdin.4; echo one");
    expect(stdout).toContain("finished: stdin.5; echo two");
    expect(await own.work.read("job_results/stdin.1.out")).toBe("one\n");
  });

  test("--rerun failed runs failed jobs again", async () => {
    const stdin = linesOf("echo one >> ran", "echo two >> ran; [ -e good ]");
    expect((await runCommand(ARGS, { ...options(), stdin })).code).toBe(1);
    await own.work.write("good", "");
    const { code, stdout } = await runCommand([...ARGS, "--rerun", "failed"], { ...options(), stdin });
    expect(code).toBe(0);
    expect(stdout).toContain("job results already exists for line 1");
    // The first two at the same time, in any order.
    expect((await own.work.read("ran")).split("\n").toSorted()).toEqual(["", "one", "two", "two"]);
  });

  test("other commands do not bring back jobs that an interrupted run had not begun", async () => {
    const first = spawnCommand(ONE_SLOT, options());
    first.child.stdin.write(linesOf(`touch begun; ${waitFor(own.work.path("go"))}`, "touch unwanted"));
    await until("the first runs", () => existsSync(own.work.path("begun")));
    first.child.kill("SIGINT");
    await first.until(({ stderr }) => stderr().includes("stopping: no new jobs"));
    await until("the second is taken back", () => claimOf("5000000000002-2-1") === "client\n");
    await own.work.write("go", "");
    expect((await first.ended).code).toBe(130);
    expect((await runCommand(ONE_SLOT, { ...options(), stdin: "echo other\n" })).code).toBe(0);
    expect(existsSync(own.work.path("unwanted"))).toBe(false);
  });
});

test("--machines: the same, over ssh", async () => {
  const host = await startSshd({ name: "one" });
  try {
    const machine = await host.machineFile("max_jobs: 2");
    const args = [...ARGS, "--machines", machine, "--json"];
    const command = spawnCommand(args, { cwd: own.work.dir });
    command.child.stdin.write("echo one; pwd\n");
    await command.until(({ stdout }) => stdout().includes('"job-collected"'));
    command.child.stdin.end("echo two > made\n");
    const { code, stdout } = await command.ended;
    expect(code).toBe(0);
    expect(await own.work.read("job_results/stdin.2/made")).toBe("two\n");
    const kinds = parseEvents(stdout).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "jobs-added")).toHaveLength(2);
    expect(kinds.filter((kind) => kind === "jobs-complete")).toHaveLength(1);
  } finally {
    await host.stop();
  }
});

test("if no machine is left to take jobs, that is reported without waiting for stdin to end", async () => {
  await own.work.write("bad.yaml", "ip: 127.0.0.1\nport: 1\nusername: no-such-user\n");
  const command = spawnCommand([...ARGS, "--machines", "bad.yaml"], { cwd: own.work.dir });
  expect((await command.ended).code).toBe(3);
});

test("--halt with a percentage is refused, because the number of jobs is unknown", async () => {
  const { code, stderr } = await runCommand([...ARGS, "--halt", "now,fail=10%"], {
    ...options(),
    stdin: "true\n",
  });
  expect(code).toBe(2);
  expect(stderr).toContain("try: give a number: --halt now,fail=3");
});

test("--halt with a number ends it while stdin is open", async () => {
  const command = spawnCommand([...ONE_SLOT, "--halt", "soon,fail=1"], options());
  command.child.stdin.write("false\ntouch unwanted\n");
  const { code, stderr } = await command.ended;
  expect(code).toBe(1);
  expect(stderr).toContain("1 job failed: --halt soon,fail=1 lets running jobs finish");
});

test("--dry-run is refused", async () => {
  const { code, stderr } = await runCommand([...ARGS, "--dry-run"], { ...options(), stdin: "true\n" });
  expect(code).toBe(2);
  expect(stderr).toContain("--dry-run needs a script, not stdin");
});

/** Of a job in the only spool on this machine. */
function claimOf(key: string): string {
  const batches = own.home.path(".sshoal/batches");
  const [batch = ""] = readdirSync(batches);
  const claim = join(batches, batch, "jobs", key, "claim");
  return existsSync(claim) ? readFileSync(claim, "utf8") : "";
}

describe("#@ lines", () => {
  test("set options of jobs as they arrive", async () => {
    const stdin = linesOf(
      "#@ --env COLOUR=red",
      "",
      "echo $COLOUR",
      "#@ --env COLOUR=blue --timeout 1s",
      "echo $COLOUR; exec sleep 600",
      "echo $COLOUR",
    );
    const { code, stdout } = await runCommand(ARGS, { ...options(), stdin });
    expect(code).toBe(1);
    expect(stdout).toContain("2 succeeded, 1 failed");
    for (const [line, colour] of Object.entries({ 3: "red", 5: "blue", 6: "red" }))
      expect(await own.work.read(`job_results/stdin.${line}.out`)).toBe(`${colour}\n`);
  });

  test("names, files, and a name that is taken", async () => {
    await own.work.write("data/one.txt", "1\n");
    await own.work.write("other.txt", "2\n");
    const stdin = linesOf(
      "echo first",
      "#@ --name prepare --copy-forward data --copy-backwards made",
      "ls; mkdir made; cat data/one.txt >made/copy.txt; touch left",
      "#@ --name prepare",
      "echo never",
      "echo last",
    );
    const { code, stdout, stderr } = await runCommand(ARGS, { ...options(), stdin });
    expect(code, stderr).toBe(1);
    expect(stdout).toContain("3 succeeded, 0 failed");
    expect(stderr).toContain("stdin:4: the name prepare is taken; the job in line 5 is left out\n");
    expect(await own.work.read("job_results/stdin.prepare.out")).toBe("data\n");
    expect(await own.work.read("job_results/stdin.prepare/made/copy.txt")).toBe("1\n");
    expect(existsSync(own.work.path("job_results/stdin.prepare/left"))).toBe(false);
    // The same input again is a new batch: the earlier results move aside.
    const again = await runCommand(ARGS, { ...options(), stdin });
    expect(again.stdout).toContain("3 succeeded, 0 failed");
    expect(await own.work.read("job_results/stdin.prepare.old-1.out")).toBe("data\n");
  });

  test("with a mistake leave their job out, and the exit code is 1", async () => {
    const stdin = linesOf("echo one", "#@ --memory-required lots", "echo two", "echo three");
    const { code, stdout, stderr } = await runCommand(ARGS, { ...options(), stdin });
    expect(code).toBe(1);
    expect(stdout).toContain("2 succeeded, 0 failed");
    expect(stderr).toContain('stdin:2: --memory-required takes a size, got "lots"');
    expect(stderr).toContain("the job in line 3 is left out");
    expect(existsSync(own.work.path("job_results/stdin.3.out"))).toBe(false);
  });

  test("that ask for what no machine can ever give leave their job out at once", async () => {
    const stdin = linesOf("echo one", "#@ --require '{licence: 1}'", "echo two", "echo three");
    const { code, stdout, stderr } = await runCommand(ARGS, { ...options(), stdin });
    expect(code).toBe(1);
    expect(stdout).toContain("2 succeeded, 0 failed");
    expect(stderr).toMatch(/localhost has no room for line 3: .*licence/);
    expect(stdout).toMatch(
      /, 1 left out in .*\nleft-out jobs, which no machine can ever run:\n {2}stdin\.3 {2}localhost: licence/,
    );
    // Nothing of it is left to do: the same commands are new jobs.
    const again = await runCommand(ARGS, { ...options(), stdin });
    expect(again.stdout).toContain("2 succeeded, 0 failed");
    expect(again.stdout).not.toContain("skipping evaluation");
  });
});
