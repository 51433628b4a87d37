// `--server`: a queue service on another machine, asked through a real ssh connection.

import { readFileSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { useFarService } from "../rig/far-service.js";
import { until } from "../rig/until.js";

const far = useFarService();
const LONG_MS = 120_000;
const TICK =
  "i=0; while [ $i -lt 40 ] && [ ! -e stop ]; do i=$((i+1)); echo tick $i; sleep 0.2; done; echo done";

test(
  "a job runs in a directory there, and its output is read from here",
  async () => {
    const name = await far.add([], "echo hello; pwd; exit 3");
    expect(name).toBe("default/1");
    const { code, stdout } = await far.run(["wait", "--server", far.server, name]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    const logs = await far.run(["logs", "--server", far.server, name, "--out"]);
    expect(logs.stdout).toBe(`hello\n${far.dir}\n`);
    const shown = await far.lines(["show", "--server", far.server, "--json"]);
    expect(JSON.parse(shown[0] ?? "")).toMatchObject({ queue: "default", state: "failed" });
    const why = await far.run(["why", "--server", far.server, "default/1"]);
    expect(why.stdout).toContain("default/1");
  },
  LONG_MS,
);

test(
  "the variables of this shell stay here, but those of --env travel",
  async () => {
    const env = { LAPTOP: "mine", GIVEN: "yours" };
    const words = [
      "--server",
      far.server,
      "--num-cpus",
      "0.01",
      "--cwd",
      far.dir,
      "--env",
      "GIVEN",
      "--wait",
      "--tee",
    ];
    const { code, stdout } = await far.run(["enqueue", ...words, "--", 'echo "<$LAPTOP> <$GIVEN>"'], { env });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "default/1\n<> <yours>\n" });
  },
  LONG_MS,
);

test(
  "jobs are held, released, given another priority, stopped, retried and removed",
  async () => {
    const name = await far.add(["--hold"], "sleep 300");
    const act = (...words: string[]) => far.run([...words, "--server", far.server]);
    expect((await act("priority", "7", name)).stdout).toBe(`priority 7: ${name}\n`);
    expect((await act("release", name)).stdout).toBe(`released: ${name}\n`);
    await until("it runs", async () => (await far.job(name)).state === "running", 30_000);
    expect((await act("stop", name)).stdout).toBe(`stopped: ${name}\n`);
    expect((await act("wait", name)).code).toBe(1);
    expect((await act("retry", name, "--state", "stopped")).stdout).toBe(`runs again: ${name}\n`);
    expect((await act("stop", name)).code).toBe(0);
    expect((await act("wait", name)).code).toBe(1);
    expect((await act("remove", name)).stdout).toBe(`removed: ${name}\n`);
    expect((await act("queue", "create", "train", "--cwd", "project")).code).toBe(0);
    const [queue] = await far
      .lines(["queue", "list", "--server", far.server, "--json"])
      .then((lines) => lines.map((line) => JSON.parse(line)).filter((each) => each.name === "train"));
    expect(queue.cwd).toBe(far.dir);
  },
  LONG_MS,
);

test(
  "every other verb of a service takes --server, and the commands that it prints name the server",
  async () => {
    const name = await far.add(["--hold"], "echo sshoal: acc=0.5");
    const act = (...words: string[]) => far.run([...words, "--server", far.server]);
    const server = `--server ${far.server}`;
    expect((await act("why", name)).stdout).toContain(`it is held: sshoal release ${name} ${server}\n`);
    expect((await act("release", name)).code).toBe(0);
    expect((await act("wait", name)).code).toBe(0);
    expect(JSON.parse((await act("results", "default/", "--json")).stdout)).toMatchObject({
      metrics: { acc: 0.5 },
    });
    expect((await act("drain", "localhost")).stdout).toBe("draining: localhost; queue default\n");
    const second = await far.add([], "true");
    expect((await act("hold", second)).stdout).toBe(`held: ${second}\n`);
    const waiting = far.spawn(["wait", second, "--server", far.server]);
    await waiting.until(({ stderr }) =>
      stderr().includes(`will not start before sshoal release ${second} ${server}\n`),
    );
    expect((await act("release", second)).code).toBe(0);
    expect((await act("undrain", "localhost")).stdout).toBe("open again: localhost; queue default\n");
    expect((await waiting.ended).code).toBe(0);
    await far.work.write("lr.yaml", "command: echo {x}\ngrid: {x: [1, 2]}\n");
    const swept = ["sweep", "lr.yaml", "--enqueue", "default", "--num-cpus", "0.01", "--cwd", far.dir];
    expect((await act(...swept)).stdout).toBe("default/3\ndefault/4\n");
    expect((await act("wait", "default")).code).toBe(0);
    const impossible = ["enqueue", "default", "--server", far.server, "--require", "{tpu: 1}", "true"];
    expect((await far.run(impossible)).stderr).toContain(`sshoal queue list ${server}\n`);
  },
  LONG_MS,
);

test(
  "a directory that is not there is refused, with both ways out",
  async () => {
    // Only root's own directories can be closed to the account there.
    const dir = process.getuid?.() === 0 ? far.work.dir : "/no/such/directory";
    await chmod(far.work.dir, 0o700);
    const words = dir === far.work.dir ? [] : ["--cwd", dir];
    const { code, stderr } = await far.run(["enqueue", "--server", far.server, ...words, "--", "true"]);
    expect({ code, stderr }).toMatchObject({ code: 2 });
    expect(stderr).toContain(`there is no directory ${dir} on the computer of the queue service of`);
    expect(stderr).toContain("--cwd DIRECTORY names one there; --copy-forward sends this directory");
    const relative = await far.run([
      "enqueue",
      "--server",
      far.server,
      "--cwd",
      "project",
      "--wait",
      "--",
      "pwd",
    ]);
    expect(relative.code).toBe(0);
    expect((await far.run(["logs", "default/1", "--server", far.server])).stdout).toContain(far.dir);
  },
  LONG_MS,
);

test(
  "--copy-forward sends this directory once, and again only what is new",
  async () => {
    await far.work.write("run.sh", "cat data/a.txt; ls\n");
    await far.work.write("data/a.txt", "alpha\n");
    await far.work.write("big.bin", "x".repeat(300_000));
    await chmod(far.work.path("run.sh"), 0o755);
    const words = ["--server", far.server, "--num-cpus", "0.01", "--copy-forward", "--tee"];
    const first = await far.run(["enqueue", ...words, "--", "sh run.sh"]);
    expect(first.stderr).toContain("sent 3 files");
    expect(first.stdout).toContain("alpha\nbig.bin\ndata\nrun.sh\n");
    const second = await far.run(["enqueue", ...words, "--", "sh run.sh"]);
    expect(second.stderr).toContain("all of it was there");
    await writeFile(far.work.path("data/a.txt"), "beta\n");
    const third = await far.run(["enqueue", ...words, "--", "sh run.sh"]);
    expect(third.stderr).toContain("5 B were new");
    expect(third.stdout).toContain("beta\n");
  },
  LONG_MS,
);

test(
  "a followed log goes on where it was when the link is cut",
  async () => {
    const name = await far.add([], TICK);
    const logs = far.spawn(["logs", "-f", "--out", "--server", far.server, name]);
    await logs.until(({ stdout }) => stdout().includes("tick 3\n"));
    far.relay.cut();
    await logs.until(({ stdout }) => stdout().includes("tick 9\n"));
    far.relay.cut();
    await writeFile(`${far.dir}/stop`, "");
    const { code, stdout } = await logs.ended;
    const lines = stdout.trimEnd().split("\n");
    expect(code).toBe(0);
    expect(lines.at(-1)).toBe("done");
    expect(lines.slice(0, -1)).toEqual(lines.slice(0, -1).map((_, index) => `tick ${index + 1}`));
  },
  LONG_MS,
);

test(
  "enqueue --wait outlives a cut link and a restart of the service",
  async () => {
    const words = ["--server", far.server, "--num-cpus", "0.01", "--cwd", far.dir, "--tee"];
    const waiting = far.spawn(["enqueue", ...words, "--", `${TICK}; exit 5`]);
    await waiting.until(({ stdout }) => stdout().includes("tick 2\n"));
    far.relay.cut();
    await far.killService();
    expect((await far.there(["serve"])).code).toBe(0);
    await waiting.until(({ stdout }) => stdout().includes("tick 12\n"));
    await writeFile(`${far.dir}/stop`, "");
    const { code, stdout } = await waiting.ended;
    expect(code).toBe(5);
    const lines = stdout.trimEnd().split("\n");
    expect(lines.slice(0, 2)).toEqual(["default/1", "tick 1"]);
    expect(new Set(lines).size).toBe(lines.length);
  },
  LONG_MS,
);

test(
  "a computer without a service says what to type, and so does one that refuses the login",
  async () => {
    expect((await far.there(["serve", "stop"])).code).toBe(0);
    const none = await far.run(["show", "--server", far.server]);
    expect(none.code).toBe(2);
    expect(none.stderr).toContain(`no queue service runs of ${far.server}`);
    expect(none.stderr).toMatch(/try: ssh .* sshoal serve/);
    const text = readFileSync(far.server, "utf8").replace(/username: .*/, "username: daemon");
    await writeFile(far.work.path("wrong.yaml"), text);
    const wrong = await far.run(["show", "--server", far.work.path("wrong.yaml")]);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toMatch(/error: 127\.0\.0\.1:\d+: does not let daemon in/);
  },
  LONG_MS,
);

test(
  "another major version and another host key are refused",
  async () => {
    const { stdout } = await far.there(["serve", "status", "--json"]);
    const { state } = JSON.parse(stdout);
    const note = `${state}.json`;
    const text = readFileSync(note, "utf8");
    await writeFile(note, text.replace(/"version":"[^"]*"/, '"version":"9.1.0"'));
    const { code, stderr } = await far.run(["show", "--server", far.server]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/the queue service of .* is sshoal 9\.1\.0, and this is/);
    await writeFile(note, text);
    await mkdir(far.home.path(".ssh"), { recursive: true });
    const known = far.home.path(".ssh/known_hosts");
    const other = readFileSync(known, "utf8").replace(/(\S+)$/m, (key) => key.replace(/.{8}$/, "AAAAAAAA"));
    await writeFile(known, other);
    const refused = await far.run(["show", "--server", far.server]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/host key/i);
  },
  LONG_MS,
);

test(
  "the variable and the configuration file name the server, and here means this computer",
  async () => {
    const name = await far.add([], "true");
    expect((await far.run(["status", name], { env: { SSHOAL_SERVER: far.server } })).stdout).toContain(
      "true",
    );
    await writeFile(far.work.path(".sshoal.yaml"), `server: ${far.server}\n`);
    const logs = await far.run(["logs", name]);
    expect(logs.stderr).toBe("");
    expect(logs.code).toBe(0);
    const here = await far.run(["show", "--server", "here"]);
    expect(here.stderr).toContain("the queue service does not run");
  },
  LONG_MS,
);
