import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { expect, onTestFinished, test } from "vitest";
import { loadSqlite } from "../../../src/service/store/load-sqlite.js";
import { openDatabase } from "../../../src/service/store/open-database.js";
import { aDir } from "./a-record.js";

const ROUNDS = 15;

/** Beside packages, so that it finds SQLite. */
async function buildChild(): Promise<string> {
  const cache = path.resolve("node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const place = mkdtempSync(path.join(cache, "committing-"));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  const outfile = path.join(place, "child.mjs");
  await build({
    entryPoints: [path.join(import.meta.dirname, "committing-child.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    external: ["@photostructure/sqlite"],
    define: { SSHOAL_VERSION: '"0.0.0-test"' },
    logLevel: "error",
  });
  return outfile;
}

/** Kills it as soon as it has printed some ids; returns all that it printed. */
async function printedUntilKilled(child: string, dir: string, count: number): Promise<number[]> {
  const service = spawn(process.execPath, [child, dir], { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  service.stdout.on("data", (chunk: Buffer) => {
    printed += chunk;
    if (printed.split("\n").length > count) service.kill("SIGKILL");
  });
  const signal = await new Promise((resolve) => service.on("close", (_, signal) => resolve(signal)));
  expect(signal).toBe("SIGKILL");
  return printed.split("\n").slice(0, -1).map(Number);
}

test(`after kill -9, ${ROUNDS} times, every printed job is there with its variables, and the files are whole`, async () => {
  const child = await buildChild();
  const dir = aDir();
  const Sqlite = loadSqlite();
  const printed: number[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    printed.push(...(await printedUntilKilled(child, dir, 1 + ((round * 7) % 12))));
    const { jobs, secrets, close, ...record } = await openDatabase(dir);
    const lost = printed.filter((id) => {
      const found = jobs.findWithInside("default", id);
      return secrets.load(found?.inside.environment ?? "") === null;
    });
    expect(lost).toEqual([]);
    expect(jobs.counts("default").waiting).toBe(record.search.ids({ queue: "default" }).length);
    close();
    for (const name of ["queue.db", "secrets.db"]) {
      const sql = new Sqlite(path.join(dir, name));
      expect(sql.prepare("PRAGMA integrity_check").get()?.integrity_check).toBe("ok");
      sql.close();
    }
  }
  expect(new Set(printed).size).toBe(printed.length);
});
