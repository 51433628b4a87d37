// Jobs of several lines, through a real sshd.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { LIGHT_NO_GPU, parseEvents } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { type BatchHost, startHost } from "../rig/host.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: BatchHost;
let work: Workspace;

beforeAll(async () => {
  host = await startHost({ name: "host" });
});
beforeEach(async () => {
  work = await makeWorkspace();
});
afterEach(() => work.remove());
afterAll(() => host?.stop());

const SCRIPT = `# what follows is six jobs
cat <<END
it's $((1 + 1))

# no comment
END
for x in 1 2; do
  # twice
  echo "number $x"
done

echo 'a
  b' "c
"
echo one \\
  two # three \\
count() {
  wc -l | tr -d ' '
} && printf 'x\\ny\\n' |
  count
cat <<'END'
the end \\
END
`;

async function run(...options: string[]) {
  return runCommand(["jobs.sh", "--machines", await host.machineFile(), ...LIGHT_NO_GPU, ...options], {
    cwd: work.dir,
  });
}

function output(line: number): Promise<string> {
  return work.read(`job_results/jobs.sh.${line}.out`);
}

test("each runs as one text, and has the number of its first line", async () => {
  await work.write("jobs.sh", SCRIPT);
  const { code, stdout } = await run();
  expect(code).toBe(0);
  expect(await output(2)).toBe("it's 2\n\n# no comment\n");
  expect(await output(7)).toBe("number 1\nnumber 2\n");
  expect(await output(12)).toBe("a\n  b c\n\n");
  expect(await output(15)).toBe("one two\n");
  expect(await output(17)).toBe("2\n");
  expect(await output(21)).toBe("the end \\\n");
  expect(stdout).toContain("\nfinished: jobs.sh.2; cat <<END …\n");
  expect(stdout).toContain("\nfinished: jobs.sh.15; echo one …\n");
  expect(stdout).toContain("\n6 succeeded, 0 failed in ");

  const again = await run();
  expect([again.code, again.stdout]).toEqual([0, expect.stringContaining("6 skipped")]);

  await work.write("jobs.sh", SCRIPT.replace("1 + 1", "1 + 2"));
  expect((await run("--keep-changed")).stderr).toContain(
    "line 2 has changed: its results are from the old command: cat <<END … (to run it again, leave out --keep-changed)",
  );
  const rerun = parseEvents((await run("--rerun", "changed", "--json")).stdout);
  expect(rerun.flatMap((event) => (event.kind === "job-collected" ? [event.name] : []))).toEqual([
    "jobs.sh.2",
  ]);
  expect(await output(2)).toBe("it's 3\n\n# no comment\n");
});
