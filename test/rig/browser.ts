// A page in headless Chromium, as a person would open it, with all its complaints and network requests.

import { execFileSync } from "node:child_process";
import { pathToFileURL } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";

export interface OpenedPage {
  readonly page: Page;
  /** Messages on the console, errors and dialogs. */
  readonly complaints: readonly string[];
  /** Besides the file itself. */
  readonly requests: readonly string[];
}

export async function startBrowser(): Promise<Browser> {
  const executablePath = execFileSync("sh", ["-c", "command -v chromium"], { encoding: "utf8" }).trim();
  // Its sandbox does not work as root, nor in most containers; the pages are ours.
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}

export async function openFile(browser: Browser, file: string, width = 1400): Promise<OpenedPage> {
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  page.setDefaultTimeout(15_000);
  const complaints: string[] = [];
  const requests: string[] = [];
  const address = pathToFileURL(file).href;
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => {
    complaints.push(dialog.message());
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (request.url() !== address) requests.push(request.url());
  });
  await page.goto(address);
  return { page, complaints, requests };
}
