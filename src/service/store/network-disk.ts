// Which file systems are shared by computers. SQLite's journal needs memory that all of its processes share.

/** Numbers of statfs. */
const SHARED: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB"],
  [0x564c, "NCP"],
  [0x73757245, "Coda"],
  [0x5346414f, "AFS"],
  [0x6b414653, "AFS"],
  [0x01021997, "9p"],
  [0x0bd00bd0, "Lustre"],
  [0x47504653, "GPFS"],
  [0x19830326, "BeeGFS"],
  [0x00c36400, "Ceph"],
  [0xaad7aaea, "PanFS"],
  [0x20030528, "OrangeFS"],
  [0x01161970, "GFS2"],
  [0x7461636f, "OCFS2"],
]);
const FUSE = 0x65735546;
/** Those that are on a disk of this computer. */
const LOCAL_FUSE = /^(fuseblk|fuse\.(ntfs(-3g)?|exfat|fuse-overlayfs|mergerfs|bindfs|ext[234]|lxcfs))$/;

/** Null: a disk of this computer. `mountInfo`: the text of /proc/self/mountinfo. `dir` has no links in it. */
export function networkDiskAt(dir: string, type: number, mountInfo: string): string | null {
  const number = type >>> 0;
  if (number !== FUSE) return SHARED.get(number) ?? null;
  const name = mountTypeOf(dir, mountInfo);
  if (name === null) return "FUSE";
  return LOCAL_FUSE.test(name) ? null : name.replace(/^fuse\./, "");
}

/** The type of the mount that the directory is on: the innermost one, and of equal ones the last. */
function mountTypeOf(dir: string, mountInfo: string): string | null {
  let [found, depth]: [string | null, number] = [null, -1];
  for (const line of mountInfo.split("\n")) {
    const [before = "", after] = line.split(" - ");
    const point = unquoteOctal(before.split(" ")[4] ?? "");
    const isAbove = point === "/" || dir === point || dir.startsWith(`${point}/`);
    if (after === undefined || !isAbove || point.length < depth) continue;
    [found, depth] = [after.split(" ")[0] ?? null, point.length];
  }
  return found;
}

/** Blanks and the like are octal numbers. */
function unquoteOctal(point: string): string {
  return point.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
}
