// Checks the directory for sshoal's files: whether it is writable, has room, and is on a local disk of the machine.

import type { Check, HostFacts, ScratchFacts } from "../model/examination.js";
import type { MachineSpec } from "../model/machine.js";

export function checkDisks({ scratch, homeFilesystem, stuckAt }: HostFacts, spec: MachineSpec): Check[] {
  // Not examined: an earlier step hung, and another check reports that.
  if (scratch.dir === "" && stuckAt !== null) return [];
  const place = scratch.filesystem ?? (spec.scratch === null ? homeFilesystem : null);
  return [
    checkWriting(scratch),
    ...checkSpace(scratch),
    ...(scratch.isNoexec ? [noexecCheck(scratch)] : []),
    ...(place !== null && isNetwork(place) ? [networkCheck(scratch, place)] : []),
  ];
}

function checkWriting({ dir, unwritable, unsafe, freeKb, filesystem }: ScratchFacts): Check {
  if (unsafe !== null) return { check: "scratch", verdict: "bad", says: unsafe, fix: OWN_SCRATCH };
  if (unwritable !== null) {
    return { check: "scratch", verdict: "bad", says: `${dir} cannot be written: ${unwritable}`, fix: CHOOSE };
  }
  const free = freeKb === null ? "the free space is not known" : `${gigabytes(freeKb)} GB free`;
  const type = filesystem === null ? "" : ` (${filesystem})`;
  return { check: "scratch", verdict: "ok", says: `${dir}${type} can be written, ${free}`, fix: null };
}

const OWN_SCRATCH = "in its machine file, set scratch: to a directory that only you can write to";
const CHOOSE = "in its machine file, set scratch: to a directory that you may write to";
const LITTLE_KB = 1024 * 1024;
const TOO_LITTLE_KB = 10 * 1024;

function checkSpace({ dir, freeKb, unwritable }: ScratchFacts): Check[] {
  if (freeKb === null || unwritable !== null || freeKb >= LITTLE_KB) return [];
  return [
    {
      check: "space",
      verdict: freeKb < TOO_LITTLE_KB ? "bad" : "warn",
      says: `${Math.floor(freeKb / 1024)} MB are free in ${dir}: each job has a copy of the working directory there`,
      fix: "free some space (sshoal clean shows sshoal's files), or set scratch: in its machine file to a larger disk",
    },
  ];
}

function noexecCheck({ dir }: ScratchFacts): Check {
  return {
    check: "scratch",
    verdict: "warn",
    says: `${dir} is mounted noexec: jobs cannot start programs of the working directory (./train.sh)`,
    fix: "write sh ./train.sh, or set scratch: in its machine file to another disk",
  };
}

function networkCheck({ dir }: ScratchFacts, type: string): Check {
  return {
    check: "scratch",
    verdict: "warn",
    says: `${dir} is on a file server (${type}): slow for many small files, and slots need guarantees that it does not give`,
    fix: "in its machine file, set scratch: to a local disk, for example scratch: /tmp/$USER or /scratch",
  };
}

/** As stat and df name them. */
const NETWORK =
  /^(nfs\d?|nfs4|cifs|smb\d?|smbfs|afs|lustre|gpfs|ceph|beegfs|fuse\.(sshfs|glusterfs|s3fs|rclone)|9p|v9fs)$/i;

function isNetwork(type: string): boolean {
  return NETWORK.test(type);
}

function gigabytes(kb: number): string {
  const gb = kb / 1024 / 1024;
  return gb >= 10 ? String(Math.floor(gb)) : gb.toFixed(1);
}
