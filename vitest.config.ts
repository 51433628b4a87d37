import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    reporters: ["default", "./test/rig/closing-line.ts"],
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/unit/**/*.test.ts"],
          // Those of the shell scripts run real processes.
          testTimeout: 120_000,
          retry: 2,
        },
        define: { SSHOAL_VERSION: '"0.0.0-test"' },
      },
      {
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          // Real servers and processes on a small machine; each test awaits facts, this is only the backstop.
          testTimeout: 120_000,
          hookTimeout: 60_000,
          // Some faults depend on which of two real processes is first; the report says when a second try was needed.
          retry: 2,
          sequence: { groupOrder: 1 },
          maxWorkers: 2,
        },
      },
    ],
  },
});
