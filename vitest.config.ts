import { defineConfig } from "vitest/config";

/** For tests that import the source; the build puts the real one into the command. Vitest empties what it is given. */
const version = () => ({ SSHOAL_VERSION: '"0.0.0-test"' });

const OWN_CLAIMS = ["test/rig/own-claims.ts"];

/** Real servers and processes on a small machine. `transport`: by which batches reach their machines. */
function endToEnd(name: string, options: { include: string[]; transport?: "openssh" | "local" }) {
  const { include, transport } = options;
  return {
    test: {
      name,
      include,
      setupFiles: OWN_CLAIMS,
      ...(transport && { env: { SSHOAL_TEST_TRANSPORT: transport } }),
      // Each test awaits facts, this is only the backstop.
      testTimeout: 120_000,
      hookTimeout: 60_000,
      // Some faults depend on which of two real processes is first; the report says when a second try was needed.
      retry: 2,
      sequence: { groupOrder: 1 },
      // More than two cores: these tests wait for other processes two thirds of their time.
      maxWorkers: 4,
    },
    define: version(),
  };
}

export default defineConfig({
  test: {
    reporters: ["default", "./test/rig/closing-line.ts"],
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/unit/**/*.test.ts"],
          setupFiles: OWN_CLAIMS,
          env: { SSHOAL_TEST_REMOTE: "none" },
          // Those of the shell scripts run real processes, and wait for them most of the time.
          testTimeout: 120_000,
          hookTimeout: 60_000,
          maxWorkers: 3,
        },
        define: version(),
      },
      {
        test: {
          name: "unit-plain-slots",
          // The suite of slots once more, without what makes them faster (plain_slots in a machine file).
          include: ["test/unit/remote/slot-script*.test.ts"],
          setupFiles: OWN_CLAIMS,
          env: { SSHOAL_TEST_REMOTE: "none", SSHOAL_TEST_SLOTS: "plain" },
          testTimeout: 120_000,
          hookTimeout: 60_000,
          maxWorkers: 3,
        },
        define: version(),
      },
      endToEnd("e2e", { include: ["test/e2e/**/*.test.ts"] }),
      endToEnd("e2e-openssh", {
        include: ["test/e2e/batch*.test.ts", "test/e2e/fault-{link,client}.test.ts"],
        transport: "openssh",
      }),
      endToEnd("e2e-local", { include: ["test/e2e/batch*.test.ts"], transport: "local" }),
    ],
  },
});
