// Ends the output with the tests that passed at a second try, each with the reason of the first, and then with one plain line with
// the number of tests: "12 passed, 0 failed, 1 skipped".

import type { Reporter, TestCase, TestModule } from "vitest/node";

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      if (module.errors().length > 0) counts.failed++;
      for (const test of module.children.allTests() as Iterable<TestCase>) {
        counts[test.result().state]++;
        if (test.result().state === "passed") tellTries(test);
      }
    }
    const skipped = counts.skipped + counts.pending;
    console.log(
      `${counts.passed} passed, ${counts.failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`,
    );
  }
}

function tellTries(test: TestCase): void {
  const errors = test.result().errors ?? [];
  if (errors.length === 0) return;
  const reasons = errors.map(({ message, diff }) => `  ${[message, diff].filter(Boolean).join("\n")}`);
  console.log(`needed another try: ${test.project.name} ${test.module.moduleId}: ${test.fullName}`);
  console.log(reasons.join("\n"));
}
