// Memory as people read it: 18.1 GB, 812 MB. MB are 2^20 bytes, as nvidia-smi and `free -m` count them.

const MB_PER_GB = 1024;

/** What there is, rounded down, so that too little never looks like enough. */
export function memoryWords(mb: number): string {
  if (mb < MB_PER_GB) return `${Math.floor(mb)} MB`;
  return `${Math.floor((mb / MB_PER_GB) * 10) / 10} GB`;
}
