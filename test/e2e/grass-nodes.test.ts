// The multi-node lines of the second README of Grass, typed by sh exactly as written: a broker without a worker, a worker that
// only dials out, and a computer that has neither. No cluster is set up: each line is all that a computer gets.

import { statSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { isRoot, remoteAccount } from "../rig/account.js";
import { useGrassNodes } from "../rig/grass-nodes.js";
import { until } from "../rig/until.js";

if (!isRoot) console.warn("SKIPPED: the lines of several computers, since only root can make a network");

describe.runIf(isRoot)("the second README, multi nodes", () => {
  const nodes = useGrassNodes("1.2.3.4", "my.server.com");

  const WORKER = "grass daemon --no-broker --connect my.server.com:7500";
  const JOB = 'grass enqueue --broker 1.2.3.4:7500 --require "{gpu:1}" cifar100 --lr=0.01';

  test("several nodes: a broker, a worker of another account behind a firewall that knows it by its DNS name, and commands from anywhere", async () => {
    const [broker, worker, anywhere] = [
      await nodes.node("root"),
      await nodes.node("plain", ["python", "lpr"]),
      await nodes.node("plain"),
    ];
    const daemon = await broker.daemon("grass daemon --bind 0.0.0.0:7500 --no-worker --cert my_cert.p12");
    expect(daemon.stderr()).toContain("--cert has no effect");
    const token = { SSHOAL_TOKEN: broker.token() };
    const working = await worker.daemon(`SSHOAL_TOKEN=${token.SSHOAL_TOKEN} ${WORKER}`);
    expect(
      await worker.ok('grass create-queue --capacity "{gpu:4}" cifar100 python train.py', token),
    ).toMatch(/^created: cifar100; \S+ runs its jobs\n$/);
    await worker.ok('grass create-queue --capacity "{printer:1}" print lpr', token);

    const paper = 'grass enqueue --broker 1.2.3.4:7500 --require "{printer:1}" print paper.pdf';
    const refused = await anywhere.type(paper);
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toContain("needs the token of its service");
    expect(await anywhere.ok(paper, token)).toBe("print/1\n");
    expect(await anywhere.ok(JOB, token)).toBe("cifar100/1\n");
    await until("both have run on the worker", async () => (await worker.notes()).length === 2, 60_000);
    expect((await worker.notes()).sort()).toEqual([
      "lpr paper.pdf on none",
      expect.stringMatching(/^python train\.py --lr=0\.01 on [0-3]$/),
    ]);
    // As the account of the worker, not as that of the broker.
    expect(statSync(worker.home.path("notes")).uid).toBe(remoteAccount().uid);
    const shown = await until(
      "both are over",
      async () => {
        const text = await anywhere.ok("grass show --broker 1.2.3.4:7500", token);
        return (text.match(/ Success /g) ?? []).length === 2 ? text : null;
      },
      60_000,
    );
    expect(shown).toMatch(/^\[Daemon\]\nBroker: -\nWorker: -\n\[Broker @ 1\.2\.3\.4:7500\]\n/);
    expect(shown).toMatch(/^\S+ +- +- +cifar100 \(0 running\), print \(0 running\)$/m);
    expect(shown).toMatch(/ cifar100 +1 +Success +python train\.py --lr=0\.01 +\{"gpu":"[0-3]"\} +-$/m);
    expect(await worker.ok("grass show", token)).toContain("Worker: tcp://my.server.com:7500");

    // A worker that stops and starts again serves its queues again.
    expect(await worker.ok("grass stop")).toMatch(/^stopped: worker \d+/);
    await working.ended;
    await anywhere.ok(JOB, token);
    await worker.daemon(`SSHOAL_TOKEN=${token.SSHOAL_TOKEN} ${WORKER}`);
    await until("the job has run", async () => (await worker.notes()).length === 3, 60_000);
    expect(await worker.ok("grass delete-queue print", token)).toBe("deleted: print\n");
  });
});
