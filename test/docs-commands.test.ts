/**
 * What the pages tell people to type works: blocks of `sh` run, and sessions (`text` with `$ stagecoach …`) print what they show. What needs
 * something that is not here says so behind its fence: `sh needs: a cluster`.
 */
import { execFile } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const ROOT = new URL("../", import.meta.url).pathname;
const PAGES = ["README.md", ...globSync("docs/**/*.md", { cwd: ROOT })].sort();

interface Block {
  where: string;
  language: string;
  needs: string | undefined;
  text: string;
}

function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  for (const [at, line] of readFileSync(join(ROOT, page), "utf8").split("\n").entries()) {
    const fence = /^\s*```(\S*)\s*(?:needs: (.*))?/.exec(line);
    if (fence === null) {
      if (open !== undefined) open.text += `${line}\n`;
    } else if (open === undefined) open = { where: `${page}:${at + 1}`, language: fence[1] ?? "", needs: fence[2], text: "" };
    else {
      blocks.push(open);
      open = undefined;
    }
  }
  return blocks;
}

const BLOCKS = PAGES.flatMap(blocksOf);
const SCRIPTS = BLOCKS.filter(({ language, needs }) => language === "sh" && needs === undefined);
/** Those that show a session. */
const SESSIONS = BLOCKS.filter(
  ({ language, needs, text }) => language === "text" && needs === undefined && text.startsWith("$ stagecoach"),
);

let place = "";
beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), "docs-commands-"));
  mkdirSync(join(place, "bin"));
  writeFileSync(join(place, "bin/stagecoach"), `#!/bin/sh\nexec ${process.execPath} ${ROOT}src/surfaces/cli/main.ts "$@"\n`, {
    mode: 0o755,
  });
});
afterAll(() => rmSync(place, { recursive: true }));

/** In a copy of the sample, or of the checkout's fixtures: whatever it writes stays there. */
async function ran(script: string, from: "fixtures/fleet" | "."): Promise<{ code: number; out: string; err: string }> {
  const cwd = mkdtempSync(join(place, "run-"));
  if (from === ".") cpSync(join(ROOT, "fixtures"), join(cwd, "fixtures"), { recursive: true });
  else cpSync(join(ROOT, from), cwd, { recursive: true });
  const env = { PATH: `${place}/bin:${process.env["PATH"]}`, HOME: place, TZ: "UTC" };
  return await new Promise((done) => {
    execFile("bash", ["--norc", "-euo", "pipefail", "-c", script], { cwd, env }, (error, out, err) =>
      done({ code: error === null ? 0 : Number(error.code ?? 1), out, err }),
    );
  });
}

test("there are blocks to run, and each that is not says what it needs", () => {
  expect(SCRIPTS.length + SESSIONS.length).toBeGreaterThan(5);
  expect(BLOCKS.filter(({ needs }) => needs === "")).toEqual([]);
  // A block that nobody could tell apart from one that is run: of another shell, or a session that begins with another program.
  const unmarked = BLOCKS.filter((block) => block.needs === undefined && !SCRIPTS.includes(block) && !SESSIONS.includes(block));
  const shells = ["bash", "shell", "console", "zsh", "fish"];
  expect(unmarked.filter(({ language, text }) => shells.includes(language) || /^\$ /m.test(text)).map(({ where }) => where)).toEqual([]);
});

test.concurrent.each(SCRIPTS)("$where runs", async ({ text }) => {
  const { code, err } = await ran(text, ".");
  expect(code, err).toBe(0);
});

test.concurrent.each(SESSIONS)("$where prints what it shows", async ({ text }) => {
  for (const session of text.split(/^\$ /m).slice(1)) {
    const end = /(?<!\\|\|)\n/.exec(session)?.index ?? session.length;
    const { out, err } = await ran(`${session.slice(0, end)} || true`, "fixtures/fleet");
    // `…` alone on a line leaves lines out.
    const parts = session
      .slice(end + 1)
      .trimEnd()
      .split(/^…$\n?/m);
    const said = (out + err).replace(/\s+/g, " ");
    for (const part of parts) expect(said).toContain(part.trim().replace(/\s+/g, " "));
  }
});
