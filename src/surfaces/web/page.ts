/** The page's files. In the package they lie beside the program; in a clone its script is made of `client/` when it is first asked for. */
import { readFile } from "node:fs/promises";
import { bundlePage } from "./bundle.ts";

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
