/** The page's files. In the package they lie beside the program; in a clone its script is made of `client/` when it is first asked for. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { RolldownOutput } from "rolldown";

/** `base`: what stands before each path of the page and the API, without a slash at its end. */
export function pageHtml(base: string): string {
  return `<!doctype html>
<html lang="en" data-base="${base}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Stagecoach</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}/page.css">
<script type="module" src="${base}/page.js"></script>
</head>
<body><div id="app"></div><noscript>This page is drawn by a script. <code>stagecoach list</code> shows the same in a terminal.</noscript></body>
</html>
`;
}

let script: Promise<string> | undefined;

export function pageScript(): Promise<string> {
  script ??= import.meta.url.endsWith(".ts")
    ? bundlePage().then(({ code }) => code)
    : readFile(new URL("./client/page.js", import.meta.url), "utf8");
  return script;
}

export function pageStyle(): Promise<string> {
  return readFile(new URL("./client/page.css", import.meta.url), "utf8");
}

/** The page's program, of what lies in `client/`, as one script for a browser. Called by the build of the package, and from a clone when the page is first asked for. */
export async function bundlePage(): Promise<RolldownOutput["output"][0]> {
  const { rolldown } = await import("rolldown");
  const build = await rolldown({
    cwd: join(import.meta.dirname, "client"),
    input: "main.tsx",
    platform: "browser",
    transform: { target: "es2023", define: { "process.env.NODE_ENV": '"production"' } },
    onLog: (level, log) => {
      if (level === "warn") throw new Error(log.message);
    },
  });
  try {
    const { output } = await build.generate({ format: "esm", minify: true, sourcemap: false });
    if (output.length > 1) throw new Error("the page's program is one file");
    return output[0];
  } finally {
    await build.close();
  }
}
