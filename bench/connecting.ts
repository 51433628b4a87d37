// Measures connecting: to thirty machines behind one jump host, and one connection alone.

import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { until } from "../test/rig/until.js";
import { type Farm, startFarm } from "./farm.js";
import { compare, formatSeconds, type Row } from "./report.js";
import type { Rig } from "./rig.js";
import { type Contender, takeTurns, timeOf, wallOf } from "./rounds.js";
import type { Route } from "./routes.js";

const FARM_SIZE = 30;
const FARM_ROUNDS = 5;
const ROUNDS = 15;
const SET_UP_GOAL = 1.5;

export async function connecting(rig: Rig): Promise<Row[]> {
  return [
    await manyBehindOne(rig),
    ...(await setUp(rig, rig.near, "connecting and `true`")),
    ...(await setUp(rig, rig.far, "connecting and `true`, 50 ms away")),
  ];
}

async function manyBehindOne(rig: Rig): Promise<Row> {
  const farm = await startFarm(FARM_SIZE);
  try {
    const what = `${FARM_SIZE} machines behind one jump host: probing all of them`;
    const { peer, ours } = await takeTurns(what, FARM_ROUNDS, {
      peer: counted(farm, loop(rig, farm), { atGate: FARM_SIZE, atMachines: FARM_SIZE }),
      ours: counted(farm, probe(rig, farm), { atGate: 1, atMachines: FARM_SIZE }),
    });
    const peerName = "a loop of `ssh -J gate machine true`";
    const note = `${FARM_ROUNDS} rounds, all probed; no sshd dropped a connection; 1 connection to the jump host, the loop ${FARM_SIZE}`;
    // Otherwise a round has thrown.
    const goal = { text: "all probed, none dropped", isMet: true };
    return { ...compare({ what, ours: timeOf(ours), peer: timeOf(peer), peerName, note }), goal };
  } finally {
    await farm.stop();
  }
}

function loop(rig: Rig, { names, gate, config }: Farm): Contender {
  const script =
    'config=$1 gate=$2; shift 2; for name; do ssh -F "$config" -J "$gate" "$name" true || exit; done';
  return rig.command(["sh", "-c", script, "sh", config, gate, ...names]);
}

function probe(rig: Rig, { names, config }: Farm): Contender {
  const words = ["probe", "--no-gpu-required", "--json", "-F", config, "--machines", ...names];
  return {
    ...rig.command([process.execPath, join(dirname(rig.program), "sshoal.js"), ...words]),
    async check() {
      const lines = (await readFile(rig.stdout, "utf8")).trimEnd().split("\n");
      const probed = lines.filter((line) => (JSON.parse(line) as { kind: string }).kind === "probed");
      if (probed.length !== names.length)
        throw new Error(`probed only ${probed.length}:\n${lines.join("\n")}`);
    },
  };
}

/** Each machine was reached by its own connection, and none was dropped. */
function counted(farm: Farm, contender: Contender, wanted: ReturnType<Farm["logins"]>): Contender {
  let before = farm.logins();
  return {
    ...contender,
    async prepare() {
      before = farm.logins();
    },
    async check() {
      await contender.check?.();
      const seen = () => {
        const { atGate, atMachines } = farm.logins();
        return `${atGate - before.atGate} at the jump host, ${atMachines - before.atMachines} behind it`;
      };
      const all = `${wanted.atGate} at the jump host, ${wanted.atMachines} behind it`;
      await until(`logins: ${all}`, () => seen() === all).catch((error) => {
        throw new Error(`${error.message}; there were ${seen()}`);
      });
      const drops = farm.drops();
      if (drops.length > 0) throw new Error(`connections were dropped:\n${drops.join("\n")}`);
    },
  };
}

/** We cannot improve Node's own start, and a batch needs it only once for all machines. So it is reported separately. */
async function setUp(rig: Rig, route: Route, what: string): Promise<Row[]> {
  const { peer, ours } = await takeTurns(what, ROUNDS, {
    peer: rig.command(["ssh", "-F", route.plainConfig, "one", "true"]),
    ours: {
      ...rig.command([
        process.execPath,
        join(dirname(rig.program), "connect-alone.mjs"),
        route.plainConfig,
        "one",
      ]),
      countMs: () => readSetUp(rig.stdout),
    },
  });
  const [time, theirs, whole] = [timeOf(ours), timeOf(peer), wallOf(ours)];
  const started = formatSeconds(whole.median - time.median);
  return [
    compare({
      what,
      ours: time,
      peer: theirs,
      peerName: "`ssh one true`",
      goal: SET_UP_GOAL,
      note: `Node's own start and end, not counted: ${started}`,
    }),
    compare({
      what: `${what}, with Node's own start`,
      ours: whole,
      peer: theirs,
      peerName: "`ssh one true`",
    }),
  ];
}

/** From our first line until the connection was closed. */
async function readSetUp(stdout: string): Promise<number> {
  const said = JSON.parse(await readFile(stdout, "utf8")) as Record<"begunMs" | "doneMs", number> & {
    readonly isDone: boolean;
    readonly transport: string;
  };
  if (!said.isDone || said.transport !== "ssh2")
    throw new Error(`not as it was meant: ${JSON.stringify(said)}`);
  return said.doneMs - said.begunMs;
}
