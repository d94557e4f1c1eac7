import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { defined } from "../../src/core/base/defined.ts";

const PLACES = [process.env["CHROMIUM"], "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Path of a Chromium on this machine; undefined: there is none, and suites that need one are skipped by name. */
export const chromiumPath = PLACES.find((path) => path !== undefined && path !== "" && existsSync(path));

/** A headless browser that talks to nobody but the test. */
export function launchBrowser(): Promise<Browser> {
  const quiet = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ];
  return chromium.launch(defined({ executablePath: chromiumPath, args: ["--no-sandbox", ...quiet] }));
}
