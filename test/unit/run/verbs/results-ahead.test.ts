import { afterEach, beforeEach, expect, test } from "vitest";
import type { OutputFiles } from "../../../../src/run/home/output-files.js";
import type { Known } from "../../../../src/run/verbs/known.js";
import type { MachineLink } from "../../../../src/run/verbs/machine-link.js";
import { ResultsAhead } from "../../../../src/run/verbs/results-ahead.js";
import type { Terms } from "../../../../src/run/verbs/terms.js";
import type { About, Session } from "../../../../src/transport/session.js";
import { type LocalMachine, makeLocalMachine } from "../../remote/a-local-machine.js";

const A = "0000001-1";
const B = "0000002-1";

let machine: LocalMachine;
/** How many scripts the machine was given. */
let scripts: number;

beforeEach(async () => {
  machine = await makeLocalMachine();
  scripts = 0;
});
afterEach(() => machine.close());

interface Circumstances {
  readonly transport?: About["transport"];
  readonly exclude?: readonly string[];
  readonly untouched?: readonly ("out" | "err")[];
}

function prepare({ transport = "ssh2", exclude, untouched = ["out", "err"] }: Circumstances = {}) {
  const session: Session = {
    ...machine.session,
    about: { ...machine.session.about, transport },
    exec(script) {
      scripts++;
      return machine.session.exec(script);
    },
  };
  const link = { session, place: machine.place } as unknown as MachineLink;
  const settings = { copyBack: ["."], ...(exclude && { exclude }) };
  const ahead = new ResultsAhead({
    terms: { settings } as unknown as Terms,
    known: { jobOfKey: () => ({}) } as unknown as Known,
    outputs: { untouched: () => untouched } as unknown as OutputFiles,
  });
  return { ahead, link };
}

/** The first word of `exit` is how the job ended. */
const end = (key: string) => machine.write(`${machine.spool}/jobs/${key}/exit`, "0\n");

test("the results of a single job that ends soon are there when they are collected", async () => {
  const { ahead, link } = prepare();
  ahead.request(link, [A]);
  await end(A);
  const running = await ahead.take(link, [A]);
  expect(running?.stdout.readableLength).toBeGreaterThan(0);
  running?.close();
  expect(await ahead.take(link, [A])).toBeNull();
});

test("a job that takes long is collected as usual", async () => {
  const { ahead, link } = prepare();
  ahead.request(link, [A]);
  expect(await ahead.take(link, [A])).toBeNull();
});

test("the request is dropped if other results are collected, or a part of the output is here", async () => {
  const other = prepare();
  other.ahead.request(other.link, [A]);
  await end(A);
  expect(await other.ahead.take(other.link, [A, B])).toBeNull();
  const begun = prepare({ untouched: ["err"] });
  begun.ahead.request(begun.link, [A]);
  expect(await begun.ahead.take(begun.link, [A])).toBeNull();
});

test("nothing is requested of several jobs, of later ones, with excluded results, or on this computer", async () => {
  const several = prepare();
  several.ahead.request(several.link, [A, B]);
  several.ahead.request(several.link, [A]);
  const excluding = prepare({ exclude: ["*.tmp"] });
  excluding.ahead.request(excluding.link, [A]);
  const local = prepare({ transport: "local" });
  local.ahead.request(local.link, [A]);
  expect(scripts).toBe(0);
  expect(await local.ahead.take(local.link, [A])).toBeNull();
});
