// Many commands on stdin: how much memory the client uses for them.

import { join } from "node:path";
import { makeWorkspace, type Workspace } from "../test/rig/workspace.js";
import { putAside } from "./put-aside.js";
import { formatMegabytes, formatSeconds, type Row } from "./report.js";
import { LIGHT, type Rig } from "./rig.js";
import { type Contender, peakOf, takeTurns, wallOf } from "./rounds.js";

export async function manyLines(rig: Rig): Promise<Row[]> {
  const work = await makeWorkspace({ few: "true\n".repeat(1000), many: "true\n".repeat(10_000) });
  const what = "10,000 × `true` on stdin: the client's peak memory";
  const { few, many } = await takeTurns(what, 1, {
    few: fed(rig, work, "few"),
    many: fed(rig, work, "many"),
  });
  const [ours, peer] = [peakOf(many), peakOf(few)];
  return [
    {
      what,
      ours: formatMegabytes(ours),
      peer: `1,000 of them: ${formatMegabytes(peer)}`,
      ratio: ours.median / peer.median,
      note: `${formatSeconds(wallOf(many).median)} in total`,
    },
  ];
}

function fed({ program, hosts, near, command }: Rig, work: Workspace, lines: string): Contender {
  const batch = [process.execPath, program, "-", ...LIGHT, "--machines", ...near.machineFiles];
  const words = ["sh", "-c", 'lines=$1; shift; exec "$@" <"$lines"', "sh", work.path(lines), ...batch];
  return {
    ...command(words, { cwd: work.dir }),
    async prepare() {
      await putAside(work.path("job_results"));
      for (const { homeDir } of hosts) await putAside(join(homeDir, ".sshoal"));
    },
  };
}
