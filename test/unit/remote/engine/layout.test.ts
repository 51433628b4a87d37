import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Place, prelude } from "../../../../src/remote/engine/layout.js";

const HOST = readFileSync("/proc/sys/kernel/hostname", "utf8").trim();

/** The values of the variables on the machine, with that HOME. */
function run(place: Place, HOME = "/home/a b") {
  const script = `${prelude(place)}printf '%s\\n' "$base" "$root" "$spool" "$(umask)"`;
  const { stdout, stderr } = spawnSync("sh", ["-c", script], {
    env: { HOME, PATH: "/usr/bin:/bin" },
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  const [base, root, spool, umask] = stdout.split("\n");
  return { base, root, spool, umask };
}

test("everything is below one root in the home directory, and is private", () => {
  expect(run({ batch: "jobs.sh-1", scratch: null })).toEqual({
    base: "/home/a b/.sshoal",
    root: "/home/a b/.sshoal",
    spool: `/home/a b/.sshoal/batches/jobs.sh-1@${HOST}`,
    umask: "0077",
  });
});

describe("with scratch: our files are there, while batches still share the home directory", () => {
  test.each([
    ["/data", "/data/.sshoal"],
    ["/data/", "/data/.sshoal"],
    ["/da ta/$(touch x)", "/da ta/$(touch x)/.sshoal"],
    ["/it's", "/it's/.sshoal"],
    ["/", "/.sshoal"],
    ["~", "/home/a b/.sshoal"],
    ["~/", "/home/a b/.sshoal"],
    ["~/fast disk/", "/home/a b/fast disk/.sshoal"],
    ["~/$HOME", "/home/a b/$HOME/.sshoal"],
  ])("%s", (scratch, root) => {
    const found = run({ batch: "b", scratch });
    expect({ ...found, root: found.root?.replaceAll(/\/+/g, "/") }).toMatchObject({
      base: "/home/a b/.sshoal",
      root,
    });
    expect(found.spool?.replaceAll(/\/+/g, "/")).toBe(`${root}/batches/b@${HOST}`);
  });
});

test("any name of a batch is one word", () => {
  const batch = `it's "a" $(batch) \`x\` *`;
  expect(run({ batch, scratch: null }).spool).toBe(`/home/a b/.sshoal/batches/${batch}@${HOST}`);
});
