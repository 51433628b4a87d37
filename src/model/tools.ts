// What our scripts on a machine call, beside what every sh has built in.

/** Without one of these no batch runs. */
export const NEEDED_TOOLS: readonly string[] = [
  "tar",
  "find",
  "xargs",
  "setsid",
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

/** What is lost without these. */
export const USEFUL_TOOLS: ReadonlyMap<string, string> = new Map([
  ["bash", "lines run under sh"],
  ["flock", "slots wait for each other by looking every second"],
  ["df", "a full disk is not reported"],
  ["ln", "batches with another scratch: are not seen"],
  ["du", "sshoal clean prints no sizes"],
  ["stat", "sshoal clean keeps what is old"],
  ["date", "sshoal clean keeps what is old"],
  ["sort", "sshoal clean keeps what is old"],
  ["readlink", "sshoal clean misses what is in another scratch:"],
]);
