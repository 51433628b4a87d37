// Gives each test file a directory of its own for claims, as if it had the machine for itself.

import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { atEnd, runAtEnd } from "./at-end.js";

const dir = mkdtempSync(join(tmpdir(), "sshoal-claims-"));
// Like /tmp: every account may make its own directory in it.
chmodSync(dir, 0o1777);
process.env.SSHOAL_CLAIMS = dir;

atEnd(() => rmSync(dir, { recursive: true, force: true }));
// Hooks of this file run after those of the test file.
afterAll(runAtEnd);
