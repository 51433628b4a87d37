// The claim of a slot has one writer and several readers. All of them read the same lines here, and must agree on their
// meaning.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { joinScript } from "../../../src/remote/join-script.js";
import { type ClaimFile, parseClaimFile } from "../../../src/remote/probe/parse-claim-file.js";
import { type ClaimWords, parseClaimWords } from "../../../src/remote/probe/parse-claims.js";
import { AWKS } from "../../rig/run-awk.js";
import { makeWorkspace, type Workspace } from "../../rig/workspace.js";
import { HOST, liveLine, SHELLS } from "./a-spool.js";
import { useSpool } from "./own-spool.js";
import { BOOT_ID, SHELLS as PROBE_SHELLS, ProbeBox } from "./probe-box.js";

/** `claim`: the meaning of the first line; null: it is no claim. `file`: the meaning of all lines, where they count. */
const GOLDEN: { what: string; text: string; claim: ClaimWords | null; file?: ClaimFile | null }[] =
  JSON.parse(readFileSync(new URL("claims.golden.json", import.meta.url), "utf8"));
const GOOD = GOLDEN.filter(({ claim }) => claim !== null);
const READER = joinScript(new URL("../../../src/remote/runtime/claim/read-claim.sh", import.meta.url));

let files: Workspace;

beforeEach(async () => {
  files = await makeWorkspace();
});
afterEach(() => files.remove());

describe.each(SHELLS)("sh, under %s", (_, { words: [program, ...words], hasOnlyBusybox }) => {
  const shell = hasOnlyBusybox ? ["busybox", "sh"] : [program, ...words];

  /** Calculates with the words it has read, as a slot does. */
  function read(script: string): string {
    const say = `printf '%s\\n' "$memory $cpus $gpu_memory $gpu_use $gpu $machine $cards"`;
    const call = `${script}\nread_claim claim && true $((memory + gpu_memory)) && ${say} || true`;
    const [file = "", ...args] = [...shell, "-c", call];
    return execFileSync(file, args, { cwd: files.dir, encoding: "utf8" });
  }

  test.each(GOLDEN)("$what", async ({ text, claim }) => {
    await files.write("claim", text);
    expect(read(READER)).toBe(claim === null ? "" : `${wordsOf(claim).join(" ")}\n`);
    expect(existsSync(files.path("pwned"))).toBe(false);
  });

  test.each(GOOD.filter(({ text }) => /^(\S+ ){6}\S+\n/.test(text)))(
    "as released with 0.1.0: $what",
    async (golden) => {
      await files.write("claim", golden.text);
      const older = "read_claim() { read -r memory cpus gpu_memory gpu_use gpu machine cards <$1; }";
      expect(read(older).trim().split(" ").slice(0, 7)).toEqual(wordsOf(golden.claim as ClaimWords));
    },
  );
});

test.each(GOLDEN.filter(({ text }) => text.endsWith("\n")))("the client: $what", ({ text, claim }) => {
  const [line = ""] = text.split("\n");
  expect(parseClaimWords(line.trim().split(/\s+/).slice(0, 7))).toEqual(claim);
});

test.each(GOLDEN.filter(({ file }) => file !== undefined))(
  "the client, all lines: $what",
  ({ text, file }) => {
    expect(parseClaimFile(text)).toEqual(file);
  },
);

test("no part of a claim file is a whole claim", () => {
  for (const { text, file } of GOLDEN.filter((each) => each.file !== undefined && each.file !== null))
    for (let length = 0; length < text.length; length += 1)
      expect([text.slice(0, length), parseClaimFile(text.slice(0, length)), file]).toContain(null);
});

describe.each(PROBE_SHELLS)("the probe, under %s", (shell) => {
  test.each(GOLDEN)("$what", async ({ text, claim }) => {
    const box = await ProbeBox.make(shell);
    const stat = "70 (sh) S 1 70 70 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 5000 9 1 1 1 1 0\n";
    await box.files.write("proc/70/stat", stat);
    await box.files.write("s/batches/my@b@box/slots/0/claim", text);
    await box.files.write("s/batches/my@b@box/slots/0/loop", `70 5000 ${BOOT_ID}@box\n`);
    const { capacity, stderr } = box.run({ bases: [box.files.path("s")] });
    await box.files.remove();
    const about = {
      owner: "",
      batch: "my@b",
      job: "",
      slot: "0",
      residentMb: 0,
      resources: [],
    };
    expect(capacity.claims).toEqual(claim === null ? [] : [{ ...about, ...claim }]);
    expect(stderr).toBe("");
  });
});

describe.each(SHELLS)("a slot of another batch, under %s", (_, shell) => {
  const { home, spool } = useSpool(shell);
  const A = "0000001-1";

  /** Only a claim that reserves the machine or uses its memory can block a slot that needs almost nothing. */
  test.each(GOLDEN.filter(({ claim }) => claim === null || (!claim.reservesMachine && claim.memoryMb < 1e4)))(
    "$what: is no obstacle",
    async ({ text }) => {
      await spool.job(A, "true");
      await home.write(`.sshoal/batches/other@${HOST}/slots/0/claim`, text);
      await home.write(`.sshoal/batches/other@${HOST}/slots/0/loop`, liveLine(process.pid));
      await spool.run();
      expect(await spool.read(`jobs/${A}/exit`)).toBe("0\n");
      expect(spool.exists("pwned")).toBe(false);
    },
  );
});

/** The lines of the question that a claim becomes. */
const SHOW = `{ read_line() }
END {
  settle()
  for (c = 1; c <= claims; c++) print "claim", claim_batch[c], claim_job[c], claim_mb[c], claim_cores[c], claim_machine[c]
  for (c = 1; c <= ons; c++) print "on", on_uuid[c], on_mb[c], on_share[c], on_amount[c]
  for (c = 1; c <= holds; c++) print "has", hold_instance[c], hold_amount[c]
}`;

describe.each(AWKS)("the allocator, with %s", (awk) => {
  const parts = ["claims", "facts"].map((name) =>
    readFileSync(new URL(`../../../src/remote/runtime/room/${name}.awk`, import.meta.url), "utf8"),
  );

  async function read(text: string): Promise<string[]> {
    const path = await files.write("claim", text);
    await files.write("program.awk", [...parts, SHOW].join("\n"));
    const [program = "", ...words] = awk.split(" ");
    const output = execFileSync(program, [...words, "-f", "program.awk"], {
      cwd: files.dir,
      input: `${path}\n`,
      encoding: "utf8",
    });
    return output.split("\n").slice(0, -1);
  }

  // Files of more than 4 kB do not reach it. awk does not see whether the last line has its newline; all others are whole then.
  const seen = GOLDEN.filter(
    ({ file, text }) => file !== undefined && text.length <= 4096 && text.endsWith("\n"),
  );
  test.each(seen)("$what", async ({ text, file }) => {
    expect((await read(text)).toSorted()).toEqual(file ? linesOf(file).toSorted() : []);
    expect(existsSync(files.path("pwned"))).toBe(false);
  });

  test("a claim counts, whatever the names in it are", async () => {
    expect(await read("300 1 0 0 0 0 -\nby größe;x $(a) 7\nend\n")).toEqual([
      expect.stringMatching(/^claim gr\?+\w*\?+e\?x \?\?a\? 300 1000 0$/),
    ]);
  });

  test("lines after the last one: it is no claim", async () => {
    expect(await read("300 1 0 0 0 0 -\nend\n300 1 0 0 0 0 -\nend\nmore\n")).toEqual([]);
    expect(await read("300 1 0 0 0 0 -\nend\n300 1 0 0 0 0 -\nend\n")).toHaveLength(1);
  });

  test("a file that cannot be read is left out, and the others count", async () => {
    const path = await files.write("good", "300 1 0 0 0 0 -\nby b - 7\nend\n");
    await files.write("program.awk", [...parts, SHOW].join("\n"));
    const [program = "", ...words] = awk.split(" ");
    const input = `${files.path("missing")}\n${path}\n`;
    const output = execFileSync(program, [...words, "-f", "program.awk"], {
      cwd: files.dir,
      input,
      encoding: "utf8",
      stdio: "pipe",
    });
    expect(output).toBe("claim b - 300 1000 0\n");
  });
});

function linesOf({ batch, job, memoryMb, cpus, reservesMachine, cards, resources }: ClaimFile): string[] {
  const about = [batch || "-", job || "-", memoryMb, cpus * 1000, Number(reservesMachine)];
  return [
    `claim ${about.join(" ")}`,
    ...cards.map((card) => `on ${card.uuid} ${card.memoryMb} ${card.share * 1000} ${card.amount * 1000}`),
    ...resources.map(({ name, instance, amount }) => `has ${name} ${instance} ${amount * 1000}`),
  ];
}

function wordsOf({ memoryMb, cpus, cards, reservesMachine }: ClaimWords): string[] {
  const [{ memoryMb: gpuMemoryMb, share, amount } = { memoryMb: 0, share: 0, amount: 0 }] = cards;
  const uuids = cards.map(({ uuid }) => uuid).join(",") || "-";
  return [memoryMb, cpus, gpuMemoryMb, share, amount, Number(reservesMachine), uuids].map(String);
}
