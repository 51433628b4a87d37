// The page of `sshoal results --html`, opened in a real browser: drawn, sorted, pointed at; and text of jobs stays
// text.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LIGHT_NO_GPU } from "../rig/batch.js";
import { openFile, startBrowser } from "../rig/browser.js";
import { runCommand } from "../rig/command.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

const EVIL = "</script><img src=x onerror=alert(1)>";
const TRAIN = `#!/bin/sh
lr=$1 opt=$2
[ "$lr" != 0.5 ] || exit 1
printf '%s\\n' '{"${EVIL}": '$lr', "acc": '$lr'9}'
`;
const LRS = ["0.001", "0.02", "0.5"];
const OPTIMISERS = ["adam", EVIL];

let browser: Browser;
let work: Workspace;
let thousand: Workspace;

beforeAll(async () => {
  [work, thousand] = await Promise.all([makeWorkspace({ "train.sh": TRAIN }), makeWorkspace()]);
  const words = ["sweep", "./train.sh {lr} {opt}", "-p", "lr", ...LRS, "-p", "opt", ...OPTIMISERS];
  const ran = await runCommand([...words, "--run", ...LIGHT_NO_GPU], { program: "sshoal", cwd: work.dir });
  expect(ran.stdout).toContain("4 succeeded, 2 failed");
  await writePage(work);
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await Promise.all([work?.remove(), thousand?.remove()]);
});

async function writePage(from: Workspace): Promise<void> {
  const { code, stdout, stderr } = await runCommand(["results", "--html"], {
    program: "sshoal",
    cwd: from.dir,
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  await from.write("results.html", stdout);
}

/** A parameter of this name cannot be typed, but a record may contain anything. */
async function renameParameter(name: string): Promise<void> {
  const { stdout } = await runCommand(["status", "--json"], { program: "sshoal", cwd: work.dir });
  const path = `job_results/.sshoal/${JSON.parse(stdout.split("\n")[0] ?? "").name.replace(/\.1$/, "")}.jsonl`;
  const record = await work.read(path);
  await work.write(path, record.replaceAll('"opt":', `${JSON.stringify(name)}:`));
}

describe("a sweep of six jobs", () => {
  test("every job is drawn at its place, and nothing is loaded", async () => {
    const { page, complaints, requests } = await openFile(browser, work.path("results.html"));
    const count = (selector: string) => page.locator(selector).count();
    expect(await count("#table tbody tr")).toBe(6);
    expect(await count("#timeline .span")).toBe(6);
    expect(await count("#timeline .span.failed")).toBe(2);
    expect(await count("#scatter .dot")).toBe(4);
    expect(await count("#parallel .thread")).toBe(4);
    expect(await page.locator("#parallel .name").allTextContents()).toEqual([
      "lr",
      "opt",
      expect.stringContaining("</"),
    ]);

    await page.locator("#metric").selectOption("acc");
    await page.locator("#parameter").selectOption("opt");
    expect(await page.locator("#scatter-caption").textContent()).toBe(
      "acc against opt, 4 jobs; 2 without it",
    );
    expect(await page.locator("#scatter .name").allTextContents()).toEqual(["opt", "acc"]);
    const heights = await page
      .locator("#scatter .dot")
      .evaluateAll((dots) => dots.map((dot) => Number(dot.getAttribute("cy"))));
    expect(heights[0]).toBe(heights[1]);
    expect(heights[2]).toBeLessThan(heights[0] ?? 0);
    expect({ complaints, requests }).toEqual({ complaints: [], requests: [] });
  });

  test("a click on a heading sorts by it, a second one reverses it, and so does the keyboard", async () => {
    const { page } = await openFile(browser, work.path("results.html"));
    const jobs = () => page.locator("#table tbody td:first-child").allTextContents();
    const heading = page.getByRole("columnheader", { name: "acc", exact: true });
    expect(await heading.getAttribute("aria-sort")).toBe("none");
    await heading.getByRole("button").click();
    expect(await jobs()).toEqual(["1", "2", "3", "4", "5", "6"]);
    expect(await heading.getAttribute("aria-sort")).toBe("ascending");
    await heading.getByRole("button").click();
    expect(await jobs()).toEqual(["3", "4", "1", "2", "5", "6"]);
    expect(await heading.getAttribute("aria-sort")).toBe("descending");
    await page.getByRole("columnheader", { name: "lr" }).getByRole("button").focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    expect(await jobs()).toEqual(["5", "6", "3", "4", "1", "2"]);
    expect(await heading.getAttribute("aria-sort")).toBe("none");
  });

  test("a mark that is pointed at, or reached by arrow keys, shows its text, and its row is highlighted", async () => {
    const { page } = await openFile(browser, work.path("results.html"));
    const tip = page.locator("#tip");
    expect(await tip.isVisible()).toBe(false);
    await page.locator('#timeline .span[data-job="3"]').hover();
    expect(await tip.textContent()).toMatch(
      /^job 3, succeeded\nlocalhost, slot \d+: .* on\nlr = 0\.02\nopt = adam\n/,
    );
    expect(await page.locator("tr.lit td:first-child").allTextContents()).toEqual(["3"]);
    await page.locator("#scatter .mark").first().focus();
    expect(await tip.textContent()).toMatch(/^job 1,/);
    await page.keyboard.press("ArrowRight");
    expect(await tip.textContent()).toMatch(/^job 2,/);
    expect(await page.locator('#scatter [tabindex="0"]').count()).toBe(1);
    await page.keyboard.press("Escape");
    expect(await tip.isVisible()).toBe(false);
  });

  test("fits a phone", async () => {
    const { page } = await openFile(browser, work.path("results.html"), 360);
    const [needed, given] = (await page.evaluate("[document.documentElement.scrollWidth, innerWidth]")) as [
      number,
      number,
    ];
    expect(needed).toBeLessThanOrEqual(given);
    expect(await page.locator("#scatter svg").getAttribute("width")).toMatch(/^3\d\d$/);
  });

  test("names that look like markup stay names", async () => {
    await renameParameter(EVIL);
    await writePage(work);
    const { page, complaints, requests } = await openFile(browser, work.path("results.html"));
    expect(await page.getByRole("columnheader").allTextContents()).toEqual([
      "job",
      "state",
      "lr",
      EVIL,
      `${EVIL} (metric)`,
      "acc",
      "seconds",
      "machine",
      "slot",
      "attempt",
      "command",
    ]);
    await page.locator("#parameter").selectOption(EVIL);
    await page.locator("#scatter .mark").last().hover();
    expect(await page.locator("#tip").textContent()).toContain(`${EVIL} = ${EVIL}`);
    expect(await page.locator("img").count()).toBe(0);
    expect({ complaints, requests }).toEqual({ complaints: [], requests: [] });
  });
});

test("a thousand jobs are drawn, and without metrics the page explains how to print them", async () => {
  const name = (line: number) => `sweep-0.${line}`;
  const lines = Array.from({ length: 1000 }, (_, index) => index + 1);
  const jobs = lines.map((line) => ({
    line,
    name: name(line),
    command: `t ${line}`,
    parameters: { n: `${line}` },
  }));
  const about = (line: number) => ({ line, attempt: 1, machine: "gpu1", v: 1 });
  const outcome = { kind: "exited", code: 0 };
  const requirement = { cpus: 1, memoryMb: 1, gpu: null, reservesMachine: false };
  const settings = {
    requirement,
    timeoutSeconds: null,
    copyForward: [],
    copyBack: [],
    copiesUnchanged: false,
    envNames: [],
  };
  const machines = [{ name: "gpu1", address: { kind: "local" }, scratch: null, file: null }];
  const events = [
    { v: 1, kind: "run-started", at: 0, batch: "sweep-0-1", script: "sweep-0", jobs, machines, settings },
    { v: 1, kind: "jobs-assigned", at: 0, machine: "gpu1", lines },
    { v: 1, kind: "jobs-handed-over", at: 0, machine: "gpu1", lines },
    ...lines.flatMap((line) => [
      { ...about(line), kind: "job-started", at: line * 500, slot: line % 16 },
      { ...about(line), kind: "job-ended", at: line * 500 + 7000, durationMs: 7000, outcome },
      { ...about(line), kind: "job-collected", at: line * 500 + 7100, outcome, files: 1, bytes: 1 },
    ]),
  ];
  await thousand.write(
    "job_results/.sshoal/sweep-0.jsonl",
    events.map((event) => `${JSON.stringify(event)}\n`).join(""),
  );
  await Promise.all(lines.map((line) => thousand.write(`job_results/${name(line)}/there`, "")));
  await writePage(thousand);
  const bare = await openFile(browser, thousand.path("results.html"));
  expect(await bare.page.locator("#no-metrics").isVisible()).toBe(true);
  expect(await bare.page.locator("#plots").isVisible()).toBe(false);

  await Promise.all(
    lines.map((line) => thousand.write(`job_results/${name(line)}.out`, `sshoal: acc=${line % 97}\n`)),
  );
  await writePage(thousand);
  const { page, complaints } = await openFile(browser, thousand.path("results.html"));
  for (const marks of [
    "#scatter .dot",
    "#parallel .thread",
    "#timeline .span.succeeded",
    "#table tbody tr",
  ]) {
    expect(await page.locator(marks).count()).toBe(1000);
  }
  expect(await page.locator("#timeline .name").count()).toBe(16);
  expect(complaints).toEqual([]);
});
