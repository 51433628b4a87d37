// Loaded into a command by NODE_OPTIONS: kills it before its n-th rename of results, or right after its last.

const fs = require("node:fs");

const killAt = Number(process.env.TEST_KILL_AT_RENAME);
const { renameSync } = fs;
let count = 0;

fs.renameSync = (from, to) => {
  const isOfResults = `${from} ${to}`.includes("job_results");
  if (isOfResults && ++count === killAt) process.kill(process.pid, "SIGKILL");
  renameSync(from, to);
};
