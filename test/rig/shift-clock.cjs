// Preloaded into a process: its wall clock is off by the seconds in a file, from the moment at which that file changes.

const { readFileSync } = require("node:fs");

const real = Date.now.bind(Date);
const offsetMs = () => {
  try {
    return Number(readFileSync(process.env.TEST_CLOCK, "utf8")) * 1000 || 0;
  } catch {
    return 0;
  }
};
Date.now = () => real() + offsetMs();
