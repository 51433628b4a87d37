// Checks what accounts of a machine share: whether their jobs see each other, and whether another account left odd files.

import type { Check, HostFacts } from "../model/examination.js";

const LISTED = 3;

export function checkNeighbours({ oddClaims, hasOwnShm }: HostFacts): Check[] {
  return [...(oddClaims.length === 0 ? [] : [oddCheck(oddClaims)]), ...(hasOwnShm ? [containerCheck()] : [])];
}

function oddCheck(odd: readonly string[]): Check {
  const more = odd.length > LISTED ? " and more" : "";
  return {
    check: "claims",
    verdict: "warn",
    says: `these are no claims of jobs, and are ignored: ${odd.slice(0, LISTED).join(", ")}${more}`,
    fix: "ask their owner, or the administrator, to remove them: ls -ld shows the owner",
  };
}

function containerCheck(): Check {
  return {
    check: "claims",
    verdict: "warn",
    says: "it is a container with its own /dev/shm: jobs outside, and in other containers, are not seen",
    fix: "start the container with the host's /dev/shm and /tmp (docker run --ipc=host -v /tmp:/tmp)",
  };
}
