// The programs that sshoal's scripts call on a machine, besides the builtins of sh.

/** No batch runs without these. */
export const NEEDED_TOOLS: readonly string[] = [
  "tar",
  "find",
  "xargs",
  "setsid",
  "awk",
  "grep",
  "sed",
  "cat",
  "chmod",
  "cp",
  "head",
  "mkdir",
  "mv",
  "rm",
  "rmdir",
  "sleep",
  "tail",
  "touch",
  "tr",
  "wc",
];

/** What does not work without these. */
export const USEFUL_TOOLS: ReadonlyMap<string, string> = new Map([
  ["bash", "lines run under sh"],
  ["flock", "jobs of other accounts are not seen, and slots check for each other once per second"],
  ["df", "a full disk is not reported"],
  ["ln", "batches with another scratch: are not seen"],
  ["du", "sshoal clean prints no sizes"],
  ["stat", "sshoal clean keeps old files"],
  ["date", "sshoal clean keeps old files"],
  ["sort", "sshoal clean keeps old files"],
  ["readlink", "sshoal clean misses files in another scratch:"],
]);
