import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";

/** Each room, with the other rooms that its files may import. Any file may import `errors.ts`. */
const WALLS: Readonly<Record<string, readonly string[]>> = {
  model: [],
  sweep: ["model"],
  results: ["model"],
  plan: ["model"],
  fitness: ["model", "plan"],
  input: ["model", "transport"],
  transport: ["model"],
  remote: ["model", "transport"],
  fleet: ["model", "transport"],
  socket: [],
  api: ["model", "input", "socket"],
  run: ["model", "plan", "transport", "remote", "fleet"],
  report: ["model", "results"],
  page: ["model", "results", "report"],
  batch: [
    "model",
    "plan",
    "fitness",
    "input",
    "results",
    "transport",
    "remote",
    "fleet",
    "socket",
    "api",
    "run",
  ],
  service: ["model", "plan", "input", "transport", "remote", "fleet", "socket", "api", "run", "batch"],
  mcp: ["model", "input", "transport"],
  cli: [
    "model",
    "plan",
    "fitness",
    "input",
    "sweep",
    "results",
    "transport",
    "remote",
    "api",
    "run",
    "batch",
    "service",
    "report",
    "mcp",
  ],
  bin: [],
};

/** Packages that only one room may import. */
const OWNERS: Readonly<Record<string, string>> = {
  ssh2: "transport",
  "ssh-config": "transport",
  commander: "cli",
  yaml: "input",
  json5: "input",
  tar: "remote",
  ignore: "remote",
  chalk: "report",
  "@modelcontextprotocol": "mcp",
  "@photostructure": "service",
  "node:sqlite": "service",
};

const SRC = "src";
const everything = readdirSync(SRC, { recursive: true, encoding: "utf8", withFileTypes: true }).filter(
  (entry) => entry.isFile(),
);
/** Files outside of any room: they start the process and end it. */
const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
const imports = new Map(files.map((file) => [file, importsOf(file)]));

function importsOf(file: string): string[] {
  const text = readFileSync(join(SRC, file), "utf8");
  return [...text.matchAll(/\b(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, path = ""]) => path);
}

function localImports(file: string): string[] {
  const paths = (imports.get(file) ?? []).filter((path) => path.startsWith("."));
  return paths.map((path) => normalize(join(dirname(file), path)).replace(/\.js$/, ".ts"));
}

function roomOf(file: string): string | null {
  return file.includes("/") ? (file.split("/")[0] ?? null) : null;
}

test("every room is in the table, and every entry of it is a room", () => {
  const rooms = new Set(files.map(roomOf).filter((room) => room !== null));
  expect([...rooms].sort()).toEqual(Object.keys(WALLS).sort());
});

test("a file imports only from the rooms that its room may use", () => {
  const crossings = files.flatMap((file) => {
    const room = roomOf(file);
    if (room === null) return [];
    const allowed = new Set([room, ...(WALLS[room] ?? [])]);
    const foreign = localImports(file).filter((path) => {
      const other = roomOf(path);
      return other === null ? !isForAll(path, room) : !allowed.has(other);
    });
    return foreign.map((path) => `${file} imports ${path}`);
  });
  expect(crossings).toEqual([]);
});

/** These are outside of any room. The installed commands start the program. */
function isForAll(path: string, room: string): boolean {
  const files = [
    "errors.ts",
    "account.ts",
    "cache-dir.ts",
    "bound-cache.ts",
    ...(room === "bin" ? ["start.ts"] : []),
  ];
  return files.includes(path);
}

test("a package that one room owns is imported nowhere else", () => {
  const strays = files.flatMap((file) =>
    (imports.get(file) ?? []).flatMap((path) => {
      const owner = OWNERS[path.split("/")[0] ?? ""];
      return owner !== undefined && owner !== roomOf(file) ? [`${file} imports ${path}`] : [];
    }),
  );
  expect(strays).toEqual([]);
});

test("imports form no circle, including imports of types", () => {
  const state = new Map<string, "open" | "done">();
  const circles: string[] = [];
  const visit = (file: string, way: readonly string[]) => {
    if (state.get(file) === "done") return;
    if (state.get(file) === "open") {
      circles.push([...way.slice(way.indexOf(file)), file].join(" -> "));
      return;
    }
    state.set(file, "open");
    for (const next of localImports(file)) visit(next, [...way, file]);
    state.set(file, "done");
  };
  for (const file of files) visit(file, []);
  expect(circles).toEqual([]);
});

test("no two files share a name, scripts for machines included", () => {
  const names = everything.map(({ name }) => name);
  expect(names.filter((name, place) => names.indexOf(name) < place)).toEqual([]);
});

test("plan/, sweep/, results/ and fitness/ depend only on their arguments", () => {
  const impure = files
    .filter((file) => /^(plan|sweep|results|fitness|model)\//.test(file))
    .flatMap((file) => {
      const text = readFileSync(join(SRC, file), "utf8");
      const outside = (imports.get(file) ?? []).filter((path) => /^node:(?!util$)/.test(path));
      const clock = /\b(Date\.now|Math\.random|performance\.now|process\.|await )/.exec(text);
      return [...outside, ...(clock ? [clock[0]] : [])].map((what) => `${file}: ${what}`);
    });
  expect(impure).toEqual([]);
});

test("only plan/ changes the state of a batch", () => {
  const change =
    /\bstate\.(?:[\w.]+\.(?:set|add|delete|clear|push)\(|[\w.]+(?:\+\+|--| [-+?|&]*= ))|Object\.assign\(state\b/;
  const strays = files
    .filter((file) => /^(run|batch|report|service|cli)\//.test(file))
    .filter((file) => change.test(readFileSync(join(SRC, file), "utf8")));
  expect(strays).toEqual([]);
});

test("only the command line uses the process", () => {
  const strays = files
    .filter((file) => /^batch\//.test(file))
    .filter((file) => /\bprocess\.|\bconsole\./.test(readFileSync(join(SRC, file), "utf8")));
  expect(strays).toEqual([]);
});

test("cli/ has its files in options/, help/, commands/ and terminal/", () => {
  const beside = files.filter((file) => /^cli\/[^/]+$/.test(file));
  expect(beside).toEqual(["cli/read-surroundings.ts"]);
  const rooms = files.flatMap((file) => /^cli\/([^/]+)\//.exec(file)?.[1] ?? []);
  expect([...new Set(rooms)].sort()).toEqual(["commands", "help", "options", "terminal"]);
});

test("docs/how-it-works.md names files that are there", () => {
  const text = readFileSync("docs/how-it-works.md", "utf8");
  const named = [...text.matchAll(/`([\w.-]+(?:\/[\w.-]+)+\.(?:ts|sh|bash))`/g)].map(([, path = ""]) => path);
  const roots = ["", SRC, join(SRC, "remote")];
  expect(named.filter((path) => !roots.some((root) => existsSync(join(root, path))))).toEqual([]);
  expect(named.length).toBeGreaterThan(40);
});
