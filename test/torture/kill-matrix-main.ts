// Runs the whole kill matrix, which takes too long for every test run. SSHOAL_TEST_SLOTS=plain: with plain slots.

import { HAS_PLAIN_SLOTS } from "../unit/remote/a-spool.js";
import { plainKillCases, sampleKillCases } from "./kill-cases.js";
import { runKillCases } from "./kill-matrix.js";

/** Resolves with the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  const [every = 1, atOnce = 2] = argv.map(Number);
  const cases = HAS_PLAIN_SLOTS ? plainKillCases(sampleKillCases(every)) : sampleKillCases(every);
  const onCase = (done: number) => {
    if (done % 100 === 0) console.log(`${done} of ${cases.length}`);
  };
  const wrong = await runKillCases(cases, { atOnce, onCase });
  for (const text of wrong) console.log(text);
  console.log(`${cases.length} cases, ${wrong.length} problems`);
  return wrong.length === 0 ? 0 : 1;
}
