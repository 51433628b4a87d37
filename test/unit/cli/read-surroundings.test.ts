import { afterEach, expect, test, vi } from "vitest";
import { readSurroundings } from "../../../src/cli/read-surroundings.js";

afterEach(() => vi.unstubAllEnvs());

test("sockets are in XDG_RUNTIME_DIR, or else in the directory for temporary files", () => {
  vi.stubEnv("XDG_RUNTIME_DIR", "/run/user/7");
  expect(readSurroundings().socketDirs[0]).toBe("/run/user/7/sshoal");
  vi.stubEnv("XDG_RUNTIME_DIR", "");
  expect(readSurroundings().socketDirs.at(-1)).toMatch(/^\/tmp\/sshoal-\d+$/);
});

test("a relative directory is not used for sockets, because other clients would not find it", () => {
  vi.stubEnv("XDG_RUNTIME_DIR", "run");
  vi.stubEnv("TMPDIR", "tmp");
  const { socketDirs } = readSurroundings();
  expect(socketDirs).toHaveLength(1);
  expect(socketDirs[0]).toMatch(/^\/tmp\/sshoal-\d+$/);
});
