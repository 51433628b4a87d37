import { describe, expect, test } from "vitest";
import { parseProbe } from "../../../../src/remote/probe/parse-probe.js";

const HOST = [
  "hostname box",
  "uptime 100.00 1.00",
  "stat cpu  1000 0 500 8000 100 0 0 0 0 0",
  "allowed 0-7",
  "meminfo MemTotal: 32768000 kB",
  "meminfo MemAvailable: 20480000 kB",
];
const END = ["uptime 100.20 1.20", "stat cpu  1030 0 510 8110 110 0 0 0 0 0"];

function parse(...lines: string[]) {
  return parseProbe([...HOST, ...lines, ...END]);
}

describe("cores", () => {
  test("the load is the time that was not idle between the two readings", () => {
    expect(parse().cpus).toEqual({ total: 8, free: 6 });
  });

  test.each([
    ["0", 1],
    ["0-3,8,10-11", 7],
    ["", null],
    ["3-1", null],
    ["0-99999999", null],
    ["all", null],
  ])("allowed %j", (allowed, total) => {
    const lines = [...HOST.filter((line) => !line.startsWith("allowed")), `allowed ${allowed}`, ...END];
    expect(parseProbe(lines).cpus?.total ?? null).toBe(total);
  });

  test.each([
    [
      "one core's quota, half of it used",
      ["1000000 us", "1100000 us"],
      "100000 100000",
      { total: 1, free: 0.5 },
    ],
    ["version 1 counts in ns", ["0 ns", "300000000 ns"], "200000 100000", { total: 2, free: 0.5 }],
    ["more than the machine has is no limit", ["0 us", "0 us"], "6400000 100000", { total: 8, free: 6 }],
    ["use unknown: as busy as the machine", ["- us", "- us"], "400000 100000", { total: 4, free: 3 }],
    ["used beyond the quota", ["0 us", "900000 us"], "100000 100000", { total: 1, free: 0 }],
  ])("cgroup quota: %s", (_, [before, after], quota, cpus) => {
    const [first, last] = [`cpulimit ${before} ${quota} /a b`, `cpulimit ${after} ${quota} /a b`];
    expect(parseProbe([...HOST, first, ...END, last]).cpus).toEqual(cpus);
  });

  test("the smallest limit of all cgroups counts", () => {
    const looks = ["cpulimit 0 us 400000 100000 /a/b", "cpulimit 0 us 200000 100000 /a"];
    expect(parseProbe([...HOST, ...looks, ...END, ...looks]).cpus).toEqual({ total: 2, free: 2 });
  });

  test.each([
    ["one look", ["stat cpu  1 2 3 4 5 6 7 8"]],
    ["time stands still", ["stat cpu  1 2 3 4 5 6 7 8", "stat cpu  1 2 3 4 5 6 7 8"]],
    ["not numbers", ["stat cpu  1 x 3 4 5 6 7 8", "stat cpu  2 x 3 9 5 6 7 8"]],
  ])("unknown: %s", (_, lines) => {
    expect(parseProbe(["allowed 0-3", ...lines]).cpus).toBeNull();
  });
});

describe("memory", () => {
  const [GB4, GB2, GB1, HALF_GB] = [4, 2, 1, 0.5].map((gb) => gb * 2 ** 30);
  const info = (...lines: string[]) => parseProbe(lines.map((line) => `meminfo ${line}`)).memory;

  test("MemAvailable is the free memory", () => {
    expect(parse().memory).toEqual({ totalMb: 32000, freeMb: 20000 });
  });

  test("a kernel without MemAvailable", () => {
    const lines = ["MemFree: 1024 kB", "Buffers: 1024 kB", "Cached: 4096 kB", "SReclaimable: 1024 kB"];
    expect(info("MemTotal: 9216 kB", ...lines, "Shmem: 2048 kB")).toEqual({ totalMb: 9, freeMb: 5 });
  });

  test.each([
    ["lxcfs says 0", ["MemTotal: 0 kB", "MemAvailable: 0 kB"]],
    ["lxcfs says less than nothing", ["MemTotal: 1024 kB", "MemAvailable: -12 kB", "MemFree: -12 kB"]],
    ["no meminfo", []],
    ["only a part of it", ["MemTotal: 1024 kB", "MemFree: 12 kB"]],
  ])("unknown: %s", (_, lines) => {
    expect(info(...lines)).toBeNull();
  });

  test("lxcfs says 0, and a cgroup has a limit", () => {
    const lxcfs = ["meminfo MemTotal: 0 kB", "meminfo MemAvailable: 0 kB"];
    const limits = [`memlimit 9223372036854771712 5 0 /`, `memlimit ${GB4} ${GB2} ${HALF_GB} /a`];
    expect(parseProbe([...lxcfs, ...limits]).memory).toEqual({ totalMb: 4096, freeMb: 2560 });
    expect(parseProbe([...lxcfs, ...limits.slice(0, 1)]).memory).toBeNull();
  });

  test("what files take in a cgroup can be taken back", () => {
    expect(parse(`memlimit ${GB4} ${GB2} ${HALF_GB} /a`).memory).toEqual({ totalMb: 4096, freeMb: 2560 });
    expect(parse(`memlimit ${GB4} ${GB2} - /a`).memory).toEqual({ totalMb: 4096, freeMb: 2048 });
  });

  test("every ancestor's limit counts", () => {
    const lines = [`memlimit ${GB4} 0 0 /a/b`, `memlimit ${GB4} ${GB4} ${GB1} /a`, `memlimit ${GB2} 0 0 /`];
    expect(parse(...lines).memory).toEqual({ totalMb: 2048, freeMb: 1024 });
  });

  test("a limit beyond all memory does not count; a cgroup over its limit has nothing free", () => {
    expect(parse("memlimit 9223372036854771712 5 0 /").memory?.totalMb).toBe(32000);
    expect(parse(`memlimit ${GB1} ${GB2} 0 /`).memory?.freeMb).toBe(0);
  });
});

describe("claims", () => {
  test("a claim, with the memory that its job already holds", () => {
    const lines = ["account ada", "pagesize 64", "rss 77 16", "rss 77 8", "rss 78 999"];
    expect(parse("claim 70 2 77 7000 1.5 1000 0.75 1 0 GPU-a,GPU-b my batch@box", ...lines).claims).toEqual([
      {
        owner: "",
        batch: "my batch",
        job: "",
        slot: "2",
        memoryMb: 7000,
        residentMb: 2,
        cpus: 1.5,
        resources: [],
        cards: ["GPU-a", "GPU-b"].map((uuid) => ({
          uuid,
          memoryMb: 1000,
          share: 0.75,
          amount: 1,
          usedMb: null,
        })),
        reservesMachine: false,
      },
    ]);
  });

  test("one slot below two roots is one claim", () => {
    const line = "claim 70 2 - 7000 1 0 0 0 1 - b@box";
    expect(parse(line, line, line.replace("70", "71")).claims).toHaveLength(2);
  });

  test.each([
    "claim 70 2 - 7000 1",
    "claim 70 2 - -5 1 0 0 0 0 - b",
    "claim 70 2 - 1e99 1 0 0 0 0 - b",
    "claim",
  ])("%j is not a claim", (line) => {
    expect(parse(line).claims).toEqual([]);
  });
});

test("text from a machine has no control characters", () => {
  expect(parseProbe(["hostname a\u001b[31mb\r"]).hostname).toBe("a [31mb");
});

test("without any line nothing is known about the machine", () => {
  expect(parseProbe([])).toEqual({
    hostname: "",
    identity: "",
    shell: "bash",
    cpus: null,
    memory: null,
    gpus: [],
    gpuProblem: "nvidia-smi lists no cards",
    claims: [],
  });
});
