// node test/nodes.mjs [major versions...]
// Runs the unit tests and one end-to-end file on other versions of Node, and writes the outcome to docs/node-versions.md.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const caches = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
const TESTS = [
  { what: "unit tests", args: ["--project", "unit"] },
  { what: "`test/e2e/batch.test.ts`", args: ["--project", "e2e", "test/e2e/batch.test.ts"] },
];

const majors = process.argv.length > 2 ? process.argv.slice(2) : ["22", "24"];
const rows = majors.map(installNode).flatMap((node) => TESTS.map((tests) => runTests(node, tests)));
writeFileSync(join(root, "docs", "node-versions.md"), formatPage(rows));
console.log(formatTable(rows));
process.exitCode = rows.every(({ isGood }) => isGood) ? 0 : 1;

/** The newest Node of a major version. This package contains only the program, so it needs no install script. */
function installNode(major) {
  const place = join(caches, "sshoal-test", `node-${major}`);
  mkdirSync(place, { recursive: true });
  const name = `node-${process.platform}-${process.arch}`;
  execFileSync("npm", ["install", "--prefix", place, "--no-save", `${name}@${major}`], { stdio: "inherit" });
  const program = join(place, "node_modules", name, "bin", "node");
  return { program, version: execFileSync(program, ["--version"], { encoding: "utf8" }).trim() };
}

/** The counts are null if vitest ended without a report. */
function runTests({ program, version }, { what, args }) {
  console.log(`${version}: ${what}`);
  const place = mkdtempSync(join(tmpdir(), "sshoal-nodes-"));
  const report = join(place, "report.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  try {
    const { status } = spawnSync(
      program,
      [join("node_modules", "vitest", "vitest.mjs"), "run", ...args, ...reporters],
      {
        cwd: root,
        stdio: "inherit",
        env: { ...process.env, PATH: dirname(program) + delimiter + process.env.PATH },
      },
    );
    return { version, what, isGood: status === 0, ...countsOf(JSON.parse(readFileSync(report, "utf8"))) };
  } catch (error) {
    console.error(`no report of ${what} on ${version}: ${error.message}`);
    return { version, what, isGood: false, passed: null, failed: null, skipped: null };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** A test that did not run because its process died counts as failed. */
function countsOf({ numTotalTests, numPassedTests, numPendingTests }) {
  const failed = numTotalTests - numPassedTests - numPendingTests;
  return { passed: numPassedTests, failed, skipped: numPendingTests };
}

function formatPage(rows) {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return `# Node versions

sshoal supports Node 20 and newer. \`npm test\` runs on the Node that runs npm. \`npm run test:nodes\` also runs the unit tests
and one end-to-end file on Node 22 and 24, and writes this page. It installs each Node from npm into \`~/.cache/sshoal-test\`.

Last run: ${new Date().toISOString().slice(0, 10)}, after version ${version}.

${formatTable(rows)}
`;
}

function formatTable(rows) {
  const cells = rows.map(({ version, what, passed, failed, skipped }) => [
    version,
    what,
    passed,
    failed,
    skipped,
  ]);
  const lines = [
    ["Node", "what ran", "passed", "failed", "skipped"],
    ["---", "---", "--:", "--:", "--:"],
    ...cells,
  ];
  return lines.map((line) => `| ${line.map((cell) => cell ?? "no report").join(" | ")} |`).join("\n");
}
