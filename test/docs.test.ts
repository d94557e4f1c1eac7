import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { CLAUSE_NAMES } from "../src/core/argocd/liveness/types.ts";
import { PIN_PROBLEMS } from "../src/core/report/reasons/problems/pins.ts";
import { RENDER_PROBLEMS } from "../src/core/report/reasons/render.ts";
import { codesOnPage } from "./generate-problems.ts";

const ROOT = new URL("../", import.meta.url).pathname;
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const page = read("docs/troubleshooting.md");

/** A section of the page, by its heading, without the sections after it. */
function section(heading: string): string {
  const [, rest] = page.split(`\n${heading}\n`);
  if (rest === undefined) throw new Error(`docs/troubleshooting.md has no heading "${heading}"`);
  return rest.split(/\n##+ /)[0] ?? "";
}

const listed = (heading: string) => [...codesOnPage(section(heading)).keys()].sort();

/** The members of a union of texts, as the source declares it after `start`. */
function union(file: string, start: string): string[] {
  const [, rest] = read(file).split(start);
  if (rest === undefined) throw new Error(`${file} has no "${start}"`);
  return [...(rest.split(";")[0] ?? "").matchAll(/"([A-Za-z_]+)"/g)].map((match) => match[1] ?? "").sort();
}

describe("docs/troubleshooting.md", () => {
  test.each([
    ["pauses", "## A run stands still", union("src/core/run/state/run.ts", "export interface Pause {\n  kind:")],
    ["liveness clauses", "## It waits for an Application", [...CLAUSE_NAMES].sort()],
    ["pin errors", "## A pin cannot be read or written", Object.keys(PIN_PROBLEMS).sort()],
    ["render problems", "## An ApplicationSet cannot be rendered", Object.keys(RENDER_PROBLEMS).sort()],
    ["Git errors", "## Git", union("src/adapters/git/port.ts", 'override name = "GitError";\n  readonly kind:')],
    ["forge errors", "## GitHub", union("src/adapters/forge/port.ts", 'override name = "ForgeError";\n  readonly kind:')],
  ])("%s: those of the source, all and no others", (_name, heading, source) => {
    expect(source.length).toBeGreaterThan(5);
    expect(listed(heading)).toEqual(source);
  });

  test("every row says what it means and what to do", () => {
    const bare = [...codesOnPage(page)].filter(([, cells]) => cells.length < 2 || cells.some((cell) => cell === ""));
    expect(bare).toEqual([]);
  });

  test("every message of the log that it explains is one", () => {
    const rows = [...section("## The bot's log").matchAll(/^\| ([a-z].*?) \|/gm)]
      .map((match) => match[1] ?? "")
      .filter((row) => row !== "message");
    const sources = globSync("src/{core,engine,adapters,surfaces}/**/*.ts", { cwd: ROOT }).map(read).join("\n");
    expect(rows.length).toBeGreaterThan(3);
    expect(rows.filter((row) => !sources.includes(`"${row}"`))).toEqual([]);
  });
});

/** GitHub's anchor of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\- _]/gu, "")
    .replaceAll(" ", "-");
}

function anchorsOf(text: string): Set<string> {
  const prose = text.replace(/^```[\s\S]*?^```/gm, "");
  return new Set([...prose.matchAll(/^#+ (.*)$/gm)].map((match) => anchorOf(match[1] ?? "")));
}

const PAGES = [...globSync("*.md", { cwd: ROOT }), ...globSync("docs/**/*.md", { cwd: ROOT })].sort();

describe("the documentation", () => {
  test.each(PAGES)("every link of %s leads somewhere", (path) => {
    const text = read(path)
      .replace(/^```[\s\S]*?^```/gm, "")
      .replace(/`[^`\n]*`/g, "");
    const broken: string[] = [];
    for (const [, target = ""] of text.matchAll(/\]\(([^()\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const [file = "", anchor] = target.split("#");
      const there = file === "" ? path : join(dirname(path), file);
      if (!existsSync(join(ROOT, there))) broken.push(target);
      else if (anchor !== undefined && !anchorsOf(read(there)).has(anchor)) broken.push(target);
    }
    expect(broken).toEqual([]);
  });

  test("has fewer than 35,000 words that people wrote to be read: without decisions, and without what is generated to be looked up", () => {
    const generated = [...globSync("docs/reference/*.md", { cwd: ROOT }), "docs/troubleshooting.md"];
    const pages = ["README.md", ...globSync("docs/*.md", { cwd: ROOT })].filter((path) => !generated.includes(path));
    const words = pages.flatMap((path) => read(path).split(/\s+/)).filter((word) => /[\p{L}\p{N}]/u.test(word));
    expect(words.length).toBeLessThan(35_000);
  });

  test("every section of docs/spec.md that code, tests and pages cite is there", () => {
    const sections = new Set([...read("docs/spec.md").matchAll(/^##+ (\d+(?:\.\d+)?)\.? /gm)].map((match) => match[1] ?? ""));
    const files = globSync(["{src,test}/**/*.ts", "docs/**/*.md", "*.md"], { cwd: ROOT });
    const cited = files.flatMap((file) =>
      [...read(file).matchAll(/§(\d+(?:\.\d+)?)/g)].map((match) => ({ file, section: match[1] ?? "" })),
    );
    expect(cited.length).toBeGreaterThan(50);
    expect(cited.filter((cite) => !sections.has(cite.section))).toEqual([]);
  });

  test.each(["CONTRIBUTING.md", "docs/security.md"])("every path that %s names is there", (page) => {
    const paths = [...read(page).matchAll(/`((?:src|test|docs|deploy)\/[^`\s]*)`/g)].map((match) => match[1] ?? "");
    expect(paths.length).toBeGreaterThan(50);
    expect(paths.filter((path) => globSync(path, { cwd: ROOT }).length === 0)).toEqual([]);
  });

  test("every path of the code that any page names is there", () => {
    const pages = ["README.md", ...globSync("docs/**/*.md", { cwd: ROOT })];
    const paths = pages.flatMap((page) => [...read(page).matchAll(/`((?:src|test|deploy)\/[^`\s]*)`/g)].map(([, path = ""]) => path));
    expect(paths.length).toBeGreaterThan(50);
    expect(paths.filter((path) => globSync(path, { cwd: ROOT }).length === 0)).toEqual([]);
  });

  test("every threat, and every door, names the tests that try it", () => {
    const rows = [...read("docs/security.md").matchAll(/^\|.*\| (?:which )?test \|\n\|[- |]*\n((?:\|.*\n)+)/gm)].flatMap(([, body = ""]) =>
      body.trimEnd().split("\n"),
    );
    const without = rows.filter((row) => {
      const last = row.split(" | ").at(-1) ?? "";
      return !/^`[^`]+\.test\.ts`(, `[^`]+\.test\.ts`)* \|$/.test(last);
    });
    expect(rows.length).toBeGreaterThan(60);
    expect(without).toEqual([]);
  });

  test("every npm script that a page names is in package.json", () => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    const named = PAGES.flatMap((path) => [...read(path).matchAll(/npm run ([a-z][a-z:-]*)/g)].map((match) => `${path}: ${match[1]}`));
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => scripts[name.split(": ")[1] ?? ""] === undefined)).toEqual([]);
  });

  test("the site has every page once, and search", async () => {
    const config = (await import(join(ROOT, "docs/.vitepress/config.js"))) as {
      SIDEBAR: [string, string[]][];
      default: { themeConfig: { search: object } };
    };
    const listed = config.SIDEBAR.flatMap(([, pages]) => pages);
    const pages = PAGES.filter((path) => /^docs\/(?!adr\/|index\.md)/.test(path)).map((path) => path.slice("docs/".length, -".md".length));
    expect(listed.sort()).toEqual(pages.sort());
    expect(config.default.themeConfig.search).toEqual({ provider: "local" });
  });

  test("a file that a page shows whole is that file", () => {
    const shown = PAGES.flatMap((path) => [...read(path).matchAll(/<!-- file: (\S+) -->\n```\w+\n([\s\S]*?)```/g)]);
    expect(shown.length).toBeGreaterThan(0);
    for (const [, file = "", text] of shown) expect(text).toBe(read(file));
  });

  test("docs/cli.md has every subcommand, and no other", () => {
    const [, table = ""] = read("src/surfaces/cli/commands.ts").split("const COMMANDS");
    const names = [...(table.split("\n};")[0] ?? "").matchAll(/^ {2}([a-z]+): \{/gm)].map((match) => match[1] ?? "");
    const page = read("docs/cli.md");
    // Those that post a command of their name share a heading, and stand in its synopsis.
    const headings = [...page.matchAll(/^## ([a-z]+)$/gm)].map((match) => match[1] ?? "");
    const synopses = [...page.matchAll(/^stagecoach ([a-z|]+)/gm)].flatMap((match) => (match[1] ?? "").split("|"));
    expect(names.length).toBeGreaterThan(5);
    expect([...new Set([...headings, ...synopses])].sort()).toEqual(names.sort());
  });

  test("docs/cli.md has every option that a subcommand takes", () => {
    const text = read("docs/cli.md");
    const files = globSync("src/surfaces/cli/**/*.ts", { cwd: ROOT }).filter((file) => !file.endsWith(".test.ts"));
    const options = files.flatMap((file) =>
      [...read(file).matchAll(/ption\(\s*"(?:-[a-z], )?(--[a-z-]+)/g)].map((match) => match[1] ?? ""),
    );
    expect(options.length).toBeGreaterThan(40);
    expect([...new Set(options)].filter((option) => !text.includes(option))).toEqual([]);
  });
});

test("a file of the sources that a comment, a README or a page names is there", () => {
  const files = globSync("{src,test,deploy}/**/*.{ts,tsx,mjs}", { cwd: ROOT });
  const texts = [
    ...files,
    ...globSync("{*,docs/*,src/**/*,test/**/*}.md", { cwd: ROOT, exclude: ["CHANGELOG.md", "**/__snapshots__/**"] }),
  ];
  const isThere = (name: string) => files.some((file) => file === name || file.endsWith(`/${name.replace(/^(\.{1,2}\/)+/, "")}`));
  // Of other projects, or a shape of names.
  const foreign = new Set([
    "dependency-dashboard.ts",
    "pr/body/config-description.ts",
    "error-config.ts",
    "reasons/X.ts",
    "../reasons/X.ts",
  ]);
  const gone = texts.flatMap((text) => {
    const lines = read(text).split("\n");
    const prose = text.endsWith(".md") ? lines : lines.filter((line) => /^\s*(\/\*\*|\*|\/\/) /.test(line));
    const named = prose.flatMap((line) => [...line.matchAll(/(?<![\w@.*/-])[\w./-]*[\w-]\.(?:tsx?|mjs)\b/g)].map(([name]) => name));
    return named.filter((name) => !foreign.has(name) && !isThere(name)).map((name) => `${text}: ${name}`);
  });
  expect(gone).toEqual([]);
});
