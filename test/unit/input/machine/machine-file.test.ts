import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type MachineSource, parseMachine } from "../../../../src/input/machine/machine-file.js";
import type { MachineSpec } from "../../../../src/model/machine.js";

const SOURCE: MachineSource = {
  name: "m.yaml",
  file: "machines/m.yaml",
  directory: "/project/machines",
  homeDir: "/home/me",
  configFile: null,
};

function specOf(text: string): MachineSpec {
  const { spec, problems } = parseMachine(text, SOURCE);
  expect(problems).toEqual([]);
  if (spec === null) throw new Error("no problems, and yet no machine");
  return spec;
}

/** "line:column: message", with the hint in brackets. */
function problemsOf(content: string | Uint8Array, source: Partial<MachineSource> = {}): string[] {
  const { spec, problems } = parseMachine(content, { ...SOURCE, ...source });
  expect(spec).toBeNull();
  return problems.map(({ where, message, hint }) => {
    expect(where).toMatch(/^machines\/m\.yaml:\d+:\d+$/);
    const place = where.slice("machines/m.yaml:".length);
    return hint === undefined ? `${place}: ${message}` : `${place}: ${message} (${hint})`;
  });
}

describe("what a file sets", () => {
  test("an address alone is enough", () => {
    expect(specOf("ip: 192.0.2.1\n")).toEqual({
      name: "m.yaml",
      file: "/project/machines/m.yaml",
      address: {
        kind: "ssh",
        host: "192.0.2.1",
        port: null,
        username: null,
        keyPath: null,
        configFile: null,
        transport: null,
      },
      gpus: null,
      excludeGpus: [],
      maxJobs: null,
      scratch: null,
      env: {},
      setup: [],
      hasPlainSlots: false,
      keepFree: { memoryMb: 0, cpus: 0, gpus: 0 },
    });
  });

  test("every key is read", () => {
    const text = `
username: ben
host: gpu1.example.org
port: 2222
ssh_key_path: ~/.ssh/id
transport: openssh
gpus: [0, 2]
exclude_gpus:
  - 1
max_jobs: 3
scratch: ~/tmp
env: { LR: 1e-4 }
setup: source ~/venv/bin/activate
wrap: [apptainer, exec, --nv, my image.sif]
plain_slots: true
keep_free: { memory: 8000, cpus: 2, gpus: 1 }
`;
    expect(specOf(text)).toEqual({
      name: "m.yaml",
      file: "/project/machines/m.yaml",
      address: {
        kind: "ssh",
        host: "gpu1.example.org",
        port: 2222,
        username: "ben",
        keyPath: "/home/me/.ssh/id",
        configFile: null,
        transport: "openssh",
      },
      gpus: [0, 2],
      excludeGpus: [1],
      maxJobs: 3,
      scratch: "~/tmp",
      env: { LR: "1e-4" },
      setup: ["source ~/venv/bin/activate"],
      wrap: ["apptainer", "exec", "--nv", "my image.sif"],
      hasPlainSlots: true,
      keepFree: { memoryMb: 8000, cpus: 2, gpus: 1 },
    });
  });

  test.each([
    ["Windows line ends", "ip: a\r\nport: 23\r\n"],
    ["a byte order mark", "\uFEFFip: a\nport: 23\n"],
    ["document marks", "---\nip: a\nport: 23\n...\n"],
    ["JSON", '{"ip": "a", "port": 23}'],
    ["quotes", "'ip': \"a\"\nport: '23'\n"],
    ["comments", "# m\nip: a # here\nport: 23\n"],
    ["an old YAML version", "%YAML 1.1\n---\nip: a\nport: 23\n"],
    ["an anchor without an alias", "ip: &x a\nport: 23\n"],
  ])("%s", (_, text) => {
    expect(specOf(text).address).toMatchObject({ host: "a", port: 23 });
  });

  test("this computer, without ssh", () => {
    const spec = specOf("transport: local\nmax_jobs: 2\nscratch: /data\n");
    expect(spec).toMatchObject({ address: { kind: "local" }, maxJobs: 2, scratch: "/data" });
  });

  test("the ssh configuration is passed on", () => {
    const { spec } = parseMachine("host: gpu1\n", { ...SOURCE, configFile: "/lab.conf" });
    expect(spec?.address).toMatchObject({ host: "gpu1", configFile: "/lab.conf" });
  });

  test.each([
    ["on"],
    ["007"],
    ["gpu+1"],
    ["fe80::1%eth0"],
    ["::1"],
    ["gpu_1.lab-2"],
    ["10"],
    ["münchen.example"],
  ])("the host %s stays as written", (host) => {
    expect(specOf(`ip: "${host}"`).address).toMatchObject({ host });
  });

  test.each([
    ["~/.ssh/id", "/home/me/.ssh/id"],
    ["/keys/id", "/keys/id"],
    ["id", "/project/machines/id"],
    ["../keys/my id", "/project/keys/my id"],
    ["~", "/home/me"],
    ["a~b", "/project/machines/a~b"],
  ])("the key path %s is %s", (written, absolute) => {
    const { spec, key } = parseMachine(`ip: a\nssh_key_path: ${written}\n`, SOURCE);
    expect(spec?.address).toMatchObject({ keyPath: absolute });
    expect(key).toEqual({ path: absolute, where: "machines/m.yaml:2:15" });
  });

  test.each([
    ["1e-4", "1e-4"],
    ["010", "010"],
    ["0x1F", "0x1F"],
    ["1.0", "1.0"],
    ["1_000", "1_000"],
    ["yes", "yes"],
    ["true", "true"],
    ["null", "null"],
    ["~", "~"],
    [".inf", ".inf"],
    ["2020-01-01", "2020-01-01"],
    ["!!str 5", "5"],
    ['""', ""],
    ["'it''s'", "it's"],
    ['"a\\nb"', "a\nb"],
    ["a b # c", "a b"],
    ["$HOME/x", "$HOME/x"],
    ["|\n    two\n    lines", "two\nlines\n"],
  ])("the environment value %j is the text %j", (written, value) => {
    expect(specOf(`ip: a\nenv:\n  X: ${written}\n`).env).toEqual({ X: value });
  });

  test("a variable may have the name of an object's own property", () => {
    const { env } = specOf("ip: a\nenv:\n  __proto__: x\n  constructor: y\n");
    expect(Object.entries(env)).toEqual([
      ["__proto__", "x"],
      ["constructor", "y"],
    ]);
  });

  test("any text is kept in the environment, as YAML can quote it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (value) => {
        fc.pre(!value.includes("\0"));
        expect(specOf(`ip: a\nenv: { X: ${JSON.stringify(value)} }\n`).env).toEqual({ X: value });
      }),
    );
  });

  test.each([
    ["one line", "setup: module load cuda", ["module load cuda"]],
    ["a block", "setup: |\n  if true; then\n    a\n  fi\n", ["if true; then\n  a\nfi"]],
    ["a list", "setup:\n  - a\n  - b: c\n".replace("b: c", "'b: c'"), ["a", "b: c"]],
    ["an empty list", "setup: []", []],
    ["an empty text", 'setup: ""', []],
  ])("setup can be %s", (_, text, setup) => {
    expect(specOf(`ip: a\n${text}\n`).setup).toEqual(setup);
  });

  test("an empty list of cards means none, not all", () => {
    expect(specOf("ip: a\ngpus: []\n").gpus).toEqual([]);
  });
});

describe("mistakes of a file, and their places", () => {
  test.each<[string, string, string[]]>([
    ["an empty file", "", ["1:1: the file has no content (write at least ip: and the machine's address)"]],
    [
      "only comments",
      "# x\n",
      ["1:1: the file has no content (write at least ip: and the machine's address)"],
    ],
    [
      "a list",
      "\n- ip: a\n",
      ["2:1: expected lines of the form key: value (write at least ip: and the machine's address)"],
    ],
    [
      "a word",
      "192.0.2.1\n",
      ["1:1: expected lines of the form key: value (write at least ip: and the machine's address)"],
    ],
    [
      "no address",
      "port: 22\n",
      ["1:1: ip is missing (write ip: and the machine's address, or the name you type after ssh)"],
    ],
    [
      "transport: local with an address and a login",
      "host: a\nport: 1\nusername: b\nssh_key_path: k\ntransport: local\n",
      ["1:7: host", "2:7: port", "3:11: username", "4:15: ssh_key_path"].map(
        (key) =>
          `${key} has no meaning with transport: local, which is this computer without ssh (remove one of the two lines)`,
      ),
    ],
    ["two addresses", "ip: a\nhost: b\n", ["2:7: ip and host mean the same (keep one of them)"]],
    [
      "two addresses, the other way",
      "host: b\nip: a\n",
      ["2:5: ip and host mean the same (keep one of them)"],
    ],
    ["a key twice", "ip: a\nport: 1\nip: b\n", ["3:1: ip is given twice (keep one)"]],
    ["a misspelt key", "ip: a\nusrname: b\n", ['2:1: unknown key "usrname", did you mean "username"?']],
    [
      "a key of Object",
      "ip: a\nconstructor: b\n",
      [expect.stringMatching(/^2:1: unknown key "constructor" \(known here: username, ip, /)],
    ],
    ["a list as key", "ip: a\n? [b]\n: c\n", ["2:3: a key must be plain text"]],
    ["no key", "ip: a\n: c\n", ["2:1: a key must be plain text"]],
    ["a merge key", "ip: a\n<<: {port: 3}\n", [expect.stringMatching(/^2:1: unknown key "<<" /)]],
    ["a tab", "ip: a\nenv:\n\tX: 1\n", ["3:1: a tab cannot indent a line (use spaces)"]],
    [
      "two documents",
      "ip: a\n---\nip: b\n",
      ["2:1: a second document begins here (write one machine per file)"],
    ],
    [
      "a colon in a value",
      "ip: a: b\n",
      ["1:5: another key: within the value (fix the indentation, or quote the value)"],
    ],
    [
      "a line too far in",
      "ip: a\n  port: 2\n",
      ["1:5: another key: within the value (fix the indentation, or quote the value)"],
    ],
    [
      "no space after the colon",
      "ip:a\nport: 2\n",
      ["1:1: expected key: value (a space must follow the colon)"],
    ],
    ["an open quote", 'ip: "a\nport: 2\n', [expect.stringMatching(/^\d:\d+: Missing closing "quote/)]],
    ["an open bracket", "ip: a\ngpus: [0\n", [expect.stringMatching(/^3:1: Flow sequence/)]],
    ["an unknown tag", "ip: !secret a\n", ["1:5: Unresolved tag: !secret"]],
    ["a Python tag", "ip: !!python/object a\n", ["1:5: Unresolved tag: !!python/object"]],
    [
      "an alias",
      "ip: &x a\nusername: *x\n",
      ['2:11: "*x" refers to another value, which is not supported here (quote it, or write the value out)'],
    ],
    [
      "an alias to nothing",
      "ip: *x\n",
      ['1:5: "*x" refers to another value, which is not supported here (quote it, or write the value out)'],
    ],
    [
      "an alias within itself",
      "env: &x\n  X: *x\n",
      ['2:6: "*x" refers to another value, which is not supported here (quote it, or write the value out)'],
    ],
  ])("%s", (_, text, problems) => {
    expect(problemsOf(text)).toEqual(problems);
  });

  test("nesting without limit", () => {
    expect(problemsOf(`ip: ${"[".repeat(60_000)}`)).toEqual([expect.stringMatching(/nested too deeply/)]);
  });

  test("nesting that the parser can handle", () => {
    expect(problemsOf(`ip: ${"[".repeat(300)}${"]".repeat(300)}`)).toEqual([
      "1:5: ip must be text, got a list",
    ]);
  });

  test("many nested aliases are refused, not expanded", () => {
    const level = (name: string, of: string) => `${name}: &${name} [${Array(9).fill(of).join(", ")}]\n`;
    const bomb = level("a", "x") + level("b", "*a") + level("c", "*b") + level("d", "*c") + level("e", "*d");
    expect(problemsOf(bomb)).toHaveLength(4);
  });

  test.each([
    ["binary", Buffer.from("ip: a\n\0"), "2:1: is binary: it holds a NUL byte (give a text file)"],
    ["Latin-1", Buffer.from("ip: m\xfc", "latin1"), "1:1: is not UTF-8 (save it as UTF-8)"],
    ["UTF-16", Buffer.from("\uFEFFip: a", "utf16le"), "1:1: is UTF-16, not UTF-8 (save it as UTF-8)"],
  ])("%s", (_, content, problem) => {
    expect(problemsOf(content)).toEqual([problem]);
  });

  test.each([
    [
      "wrap: apptainer exec",
      '2:7: wrap must be a list of words such as [apptainer, exec, image.sif], got "apptainer exec"',
    ],
    ["wrap:", "2:6: wrap must be a list of words such as [apptainer, exec, image.sif], got nothing"],
    ["wrap: ['', exec]", '2:8: wrap must begin with a command, got ""'],
    ["wrap: [a, [b]]", "2:11: each of wrap must be text, got a list"],
    ["plain_slots: yes", '2:14: plain_slots must be true or false, got "yes"'],
    ["port:", "2:6: port must be a whole number from 1 to 65535, got nothing"],
    ["port: 0", '2:7: port must be a whole number from 1 to 65535, got "0"'],
    ["port: 65536", '2:7: port must be a whole number from 1 to 65535, got "65536"'],
    ["port: -1", '2:7: port must be a whole number from 1 to 65535, got "-1"'],
    ["port: 2e1", '2:7: port must be a whole number from 1 to 65535, got "2e1"'],
    ["port: 022", '2:7: port must be a whole number from 1 to 65535, got "022"'],
    ["port: ~", '2:7: port must be a whole number from 1 to 65535, got "~"'],
    ["port: [22]", "2:7: port must be a whole number from 1 to 65535, got a list"],
    ["gpus: 2", '2:7: gpus must be a list of whole numbers such as [0, 1], got "2"'],
    ["gpus: 0,1", '2:7: gpus must be a list of whole numbers such as [0, 1], got "0,1"'],
    ["gpus: [0, a]", '2:11: each of gpus must be a whole number of 0 or more, got "a"'],
    ["gpus: [1.5]", '2:8: each of gpus must be a whole number of 0 or more, got "1.5"'],
    ["gpus: [1, 1]", '2:11: gpus must name each number once, got "1"'],
    [
      "exclude_gpus: {a: b}",
      "2:15: exclude_gpus must be a list of whole numbers such as [0, 1], got a mapping",
    ],
    ["max_jobs: 0", '2:11: max_jobs must be a whole number of 1 or more, got "0"'],
    [
      "max_jobs: 99999999999999999999",
      '2:11: max_jobs must be a whole number of 1 or more, got "99999999999999999999"',
    ],
    ["scratch: data", '2:10: scratch must be an absolute path, or begin with ~/, got "data"'],
    ["scratch: ~", '2:10: scratch must be an absolute path, or begin with ~/, got "~"'],
    ["scratch: ~ben/x", '2:10: scratch must be an absolute path, or begin with ~/, got "~ben/x"'],
    ['scratch: "/a\\nb"', '2:10: scratch must be an absolute path, or begin with ~/, got "/a\\nb"'],
    ["scratch: ''", '2:10: scratch must be an absolute path, or begin with ~/, got ""'],
    ["ssh_key_path:", "2:14: ssh_key_path must be text, got nothing"],
    ["ssh_key_path: ''", '2:15: ssh_key_path must be a path, absolute or beginning with ~/, got ""'],
    [
      "ssh_key_path: ~ben/id",
      '2:15: ssh_key_path must be a path, absolute or beginning with ~/, got "~ben/id"',
    ],
    ["transport: rsh", '2:12: transport must be ssh2, openssh or local, got "rsh"'],
    ["transport:", "2:11: transport must be text, got nothing"],
    ["env: [A=1]", "2:6: env must hold lines of the form NAME: value, got a list"],
    ["env:", "2:5: env must hold lines of the form NAME: value, got nothing"],
    [
      "env: {1A: x}",
      '2:7: a name in env must have letters, digits and _, and must not begin with a digit, got "1A"',
    ],
    [
      "env: {A-B: x}",
      '2:7: a name in env must have letters, digits and _, and must not begin with a digit, got "A-B"',
    ],
    [
      "env: {'A=$(x)': x}",
      '2:7: a name in env must have letters, digits and _, and must not begin with a digit, got "A=$(x)"',
    ],
    ["env: {A: }", "2:10: env A must be text, got nothing"],
    ["env: {A: [x]}", "2:10: env A must be text, got a list"],
    ["env: {A: x, A: y}", "2:13: env A is given twice (keep one)"],
    ["setup:", "2:7: setup must be text, got nothing"],
    ["setup: {a: b}", "2:8: setup must be text, got a mapping"],
    ["setup: [a, [b]]", "2:12: each of setup must be text, got a list"],
    ["keep_free: 8000", '2:12: keep_free must hold memory:, cpus: or gpus:, got "8000"'],
    [
      "keep_free: {memory: 2GB}",
      '2:21: keep_free memory must be a whole number of 0 or more (MB), got "2GB"',
    ],
    ["keep_free: {cpus: -1}", '2:19: keep_free cpus must be a whole number of 0 or more, got "-1"'],
    ["keep_free: {cpu: 1}", '2:13: unknown key "cpu", did you mean "cpus"?'],
    ["username:", "2:10: username must be text, got nothing"],
    ["username: -oProxyCommand=x", '2:11: username must be a user name, got "-oProxyCommand=x"'],
    ["username: a b", '2:11: username must be a user name, got "a b"'],
    ['username: "a\\tb"', '2:11: username must be a user name, got "a\\tb"'],
    ["username: a;b", '2:11: username must be a user name, got "a;b"'],
    ["username: a\\", '2:11: username must be a user name, got "a\\\\"'],
    ["username: ''", '2:11: username must be a user name, got ""'],
  ])("%s", (line, problem) => {
    expect(problemsOf(`ip: a\n${line}\n`)).toEqual([problem]);
  });

  test.each([
    ["", "1:5: ip must be text, got nothing"],
    ["-oProxyCommand=x", '1:5: ip must be an address or a host name, got "-oProxyCommand=x"'],
    ["a b", '1:5: ip must be an address or a host name, got "a b"'],
    ['"a\\e[31m"', '1:5: ip must be an address or a host name, got "a\\u001b[31m"'],
    ['"a\\u200bb"', '1:5: ip must be an address or a host name, got "a\u200bb"'],
    ["a$(x)", '1:5: ip must be an address or a host name, got "a$(x)"'],
    [
      "ben@a",
      '1:5: ip must be an address or a host name, got "ben@a" (move the part before the @ to username:)',
    ],
    [
      "a:2222",
      '1:5: ip must be an address or a host name, got "a:2222" (move the part after the colon to port:)',
    ],
    ["'[::1]'", '1:5: ip must be an address or a host name, got "[::1]" (leave out the brackets)'],
    ["[::1]", "1:5: ip must be text, got a list"],
    ["''", '1:5: ip must be an address or a host name, got ""'],
  ])("ip: %s", (written, problem) => {
    expect(problemsOf(`ip: ${written}\n`)).toEqual([problem]);
  });

  test.each(["my machine.yaml", "-m.yaml", "m\n.yaml"])("a machine cannot be called %j", (name) => {
    expect(problemsOf("ip: a\n", { name })).toEqual([expect.stringMatching(/^1:1: .*\(rename the file\)$/)]);
  });

  test("all mistakes at once, in the order of the file", () => {
    const text =
      "port: x\nusrname: b\nip: -a\ngpus: [q, 1, z]\nkeep_free:\n  memory: 1\n  memory: 2\nmax_jobs: 0\n";
    expect(problemsOf(text).map((problem) => problem.split(": ")[0])).toEqual([
      "1:7",
      "2:1",
      "3:5",
      "4:8",
      "4:14",
      "7:3",
      "8:11",
    ]);
  });

  test("a value that may be secret is not printed", () => {
    expect(problemsOf('ip: a\nenv:\n  TOKEN: "hunter2\\0"\n')).toEqual([
      "3:10: env TOKEN must not hold a NUL character",
    ]);
  });

  test("long values are cut", () => {
    expect(problemsOf(`ip: a\nport: ${"9".repeat(5000)}\n`)[0]?.length).toBeLessThan(150);
  });

  test("the key file is still returned if something else is wrong", () => {
    expect(parseMachine("port: x\nssh_key_path: ~/k\n", SOURCE).key).toEqual({
      path: "/home/me/k",
      where: "machines/m.yaml:2:15",
    });
  });

  test("any text gives a machine or a problem, never a crash", () => {
    const fragment = fc.constantFrom(
      "ip: a",
      "port:",
      " ",
      "\n",
      "- ",
      "? ",
      ": ",
      "&x ",
      "*x",
      "{",
      "}",
      "[",
      "]",
      '"',
      "'",
      "|",
      ">",
      "\t",
      "#",
      "env:",
      "<<: ",
      "!!map ",
      "---\n",
      "%YAML 1.1\n",
      "\0",
      "\r",
    );
    const anyText = fc.oneof(
      fc.array(fragment, { maxLength: 30 }).map((parts) => parts.join("")),
      fc.string({ unit: "binary" }),
    );
    fc.assert(
      fc.property(anyText, (text) => {
        const { spec, problems } = parseMachine(text, SOURCE);
        expect(spec === null).toBe(problems.length > 0);
        for (const { where } of problems) expect(where).toMatch(/^machines\/m\.yaml:[1-9]\d*:[1-9]\d*$/);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("resources", () => {
  const resourcesOf = (text: string) => specOf(`ip: a\nresources:\n  ${text}\n`).resources;

  test.each([
    ["licence: 3", { licence: { "0": 1, "1": 1, "2": 1 } }],
    ["nvme: [2, 0.5]", { nvme: { "0": 2, "1": 0.5 } }],
    ["disk: {fast: 1, slow-2: 4}", { disk: { fast: 1, "slow-2": 4 } }],
    ["RAM: [512]", { RAM: { "0": 512 } }],
  ])("%s", (text, expected) => {
    expect(resourcesOf(text)).toEqual(expected);
  });

  test("are absent where the file has none", () => {
    expect(specOf("ip: a\n")).not.toHaveProperty("resources");
  });

  test("every mistake has its place", () => {
    const text = `ip: a
resources:
  RAM: 512
  gpu: 1
  2fast: 1
  nvme: [1, -1, 0, 1.0005]
  disk: {"a b": 1, c: much}
  half: 0.5
  none: []
  constructor: 1
`;
    const measured = "each amount of resources nvme must be a number above 0 with at most three decimals";
    const name = "the name of a resource has up to 32 letters, digits, - and _, and begins with a letter";
    expect(problemsOf(text)).toEqual([
      "3:8: resources RAM must be a whole number from 1 to 64, which counts instances of 1, got 512 (one instance that has 512 in all: RAM: [512])",
      "4:3: gpu is measured, and cannot be declared (gpus: and exclude_gpus: choose cards)",
      `5:3: ${name}, got "2fast"`,
      `6:13: ${measured}, got "-1"`,
      `6:17: ${measured}, got "0"`,
      `6:20: ${measured}, got "1.0005"`,
      '7:10: a name in resources disk has up to 32 letters, digits, _, . and -, and begins with a letter or digit, got "a b"',
      '7:23: each amount of resources disk must be a number above 0 with at most three decimals, got "much"',
      "8:9: resources half must be a whole number from 1 to 64, which counts instances of 1, got 0.5 (one instance that has 0.5 in all: half: [0.5])",
      "9:9: resources none must have 1 to 64 amounts",
      `10:3: ${name}, got "constructor"`,
    ]);
    expect(problemsOf("ip: a\nresources: 3\n")).toEqual([
      '2:12: resources must hold lines of the form name: amount, got "3"',
    ]);
  });
});
