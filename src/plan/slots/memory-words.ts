// Memory as people read it: 18.1 GB, 812 MB. MB are 2^20 bytes, as nvidia-smi and `free -m` count them.

const MB_PER_GB = 1024;

/** What is free is rounded down, and what is needed up, so that too little never looks like enough. */
export type Rounding = "down" | "up" | "nearest";

export function memoryWords(mb: number, rounding: Rounding = "nearest"): string {
  return `${memoryNumber(mb, rounding)} ${unitOf(mb)}`;
}

/** Without its unit, if that is the unit of the number before it. */
export function memoryAfter(before: number, mb: number, rounding: Rounding = "nearest"): string {
  return unitOf(before) === unitOf(mb) ? memoryNumber(mb, rounding) : memoryWords(mb, rounding);
}

function unitOf(mb: number): "GB" | "MB" {
  return mb >= MB_PER_GB ? "GB" : "MB";
}

function memoryNumber(mb: number, rounding: Rounding): string {
  const [unit, steps] = unitOf(mb) === "GB" ? [MB_PER_GB, 10] : [1, 1];
  const number = (mb / unit) * steps;
  const round = { down: Math.floor, up: Math.ceil, nearest: Math.round }[rounding];
  return `${round(number) / steps}`;
}
