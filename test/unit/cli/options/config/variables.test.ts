import { expect, test } from "vitest";
import { parseWith, type Texts } from "./a-config.js";

/** What a client that continues a batch gets. */
function variables(texts: Texts, env = {}) {
  const invocation = parseWith(texts, ["retry", "1"], { env });
  return invocation.command === "retry" ? invocation.options.variables : null;
}

test("variables of both files, with values of this shell where they are passed on", () => {
  const texts = { user: "env: {A: user, B: 'b=c'}\n", project: "env: [A=project, C, D]\n" };
  expect(variables(texts, { C: "shell" })).toEqual({ A: "project", B: "b=c", C: "shell" });
});

test("not those of sections: which one counted is not recorded", () => {
  expect(variables({ user: "env: {A: '1', B: '2'}\nsweep: {env: {A: '3'}}\n" })).toEqual({ B: "2" });
});
