// Memory for people: in GB with one decimal, in MB where that would hide a difference.

/** `16 GB`, `6.8 GB`, `300 MB`. */
export function memoryWords(mb: number): string {
  return mb < 1024 ? `${Math.floor(mb)} MB` : `${gigabytes(mb)} GB`;
}

/** `14.2 GB free of 24, needs 16`. Rounded, what is free may look like what is needed: then in MB. */
export function shortOfMemory(freeMb: number, totalMb: number | null, neededMb: number): string {
  const isClose = neededMb < 1024 || gigabytes(freeMb) === gigabytes(neededMb);
  const [format, unit] = isClose ? [whole, "MB"] : [gigabytes, "GB"];
  const total = totalMb === null ? "" : ` of ${format(totalMb)}`;
  return `${format(Math.max(0, freeMb))} ${unit} free${total}, needs ${format(neededMb)}`;
}

/** `24 GB in all, needs 40` */
export function tooLittleMemory(totalMb: number, neededMb: number): string {
  const isClose = neededMb < 1024 || gigabytes(totalMb) === gigabytes(neededMb);
  const [format, unit] = isClose ? [whole, "MB"] : [gigabytes, "GB"];
  return `${format(totalMb)} ${unit} in all, needs ${format(neededMb)}`;
}

/** Rounded down, so that what is free never looks like more. */
function gigabytes(mb: number): string {
  return String(Math.floor((mb / 1024) * 10 + 1e-6) / 10);
}

function whole(mb: number): string {
  return String(Math.floor(mb));
}
