import { expect, test } from "vitest";
import { formatPage, pageData } from "../../../../src/report/tables/results-page.js";
import { aRow, aTable } from "../../results/a-row.js";

const EVIL = "</script><script>alert(1)</script>$& %STYLE%";

test("data cannot end its element, and reads back unchanged", () => {
  const html =
    "<title>%TITLE%</title><style>%STYLE%</style><script id=data>%DATA%</script><script>%SCRIPT%</script>";
  const table = {
    ...aTable(aRow({ parameters: { [EVIL]: EVIL }, metrics: { [EVIL]: EVIL }, command: EVIL })),
    batch: EVIL,
  };
  const data = pageData(table, [], 1);
  const page = formatPage({ html, style: "b {}", script: "'$1'" }, data);
  const [, title, style, found, script] =
    /^<title>([^<]*)<\/title><style>([^<]*)<\/style><script id=data>([^<]*)<\/script><script>([^<]*)<\/script>$/.exec(
      page,
    ) ?? [];
  expect({ style, script }).toEqual({ style: "b {}", script: "'$1'" });
  expect(title).not.toMatch(/[<>"']/);
  expect(JSON.parse(found ?? "")).toEqual(data);
});

test("only this script and this style are allowed", () => {
  const data = pageData(aTable(aRow()), [], 1);
  // The output of `printf %s 'b {}' | openssl dgst -sha256 -binary | base64`.
  const page = formatPage({ html: "%STYLE_HASH% %SCRIPT_HASH%", style: "b {}", script: "" }, data);
  expect(page).toBe(
    "sha256-zy87ZYlZV4kMyp51wB+3ABJeEclAGRFupKDmlDS9DAw= sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
  );
});
