import { expect, test } from "vitest";
import { parseKabukiLine } from "../../../../src/cli/options/kabuki-line.js";

test.each([
  ['execute_remote "echo a"', { command: "echo a", name: null, copying: {} }],
  [
    `execute_remote --copy-forward a 'b c' --copy-backwards out --verbose "x && y 'z' | w" `,
    {
      command: "x && y 'z' | w",
      name: null,
      copying: { copyForward: ["a", "b c"], copyBackwards: ["out"] },
    },
  ],
  [
    'execute_remote "echo \\"$A\\" \\$B" --job-name=n --copy-forward # none',
    { command: 'echo "$A" $B', name: "n", copying: { copyForward: true } },
  ],
  ["execute_remote 'a\nb' \\\n  --job-name n", { command: "a\nb", name: "n", copying: {} }],
  ["execute_remote 'a' --copy-f b", { command: "a", name: null, copying: { copyForward: ["b"] } }],
])("%j", (text, line) => {
  expect(parseKabukiLine(text)).toMatchObject(line);
});

test.each([
  ["python a.py", /no execute_remote command/],
  ["'execute_remote x'", /no execute_remote command/],
  ["execute_remote ''", /which command/],
  ["execute_remote 'a' > log", /">" is outside the quotes/],
  ["execute_remote 'a'; rm b", /"'a';" is outside the quotes/],
  ["execute_remote 'a' --machine b", /--machine cannot be set here/],
  ["execute_remote 'a' -x", /unknown option '-x'/],
  ["execute_remote 'a' --job-name", /argument missing/],
])("%j is refused", (text, message) => {
  expect(() => parseKabukiLine(text)).toThrow(message);
});
