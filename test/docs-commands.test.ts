/**
 * What the pages tell people to type works: blocks of `sh` run, and sessions (`text` with `$ stagecoach …`) print what they show. What needs
 * more than the sample says so behind its fence, `sh needs: a journal`; `support/docs-places.ts` makes that, or says why it cannot.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Block, blocksOf, comparable, type Ran, sessionsIn, typed } from "./support/docs-blocks.ts";
import { ABSENT, PLACES, type Place } from "./support/docs-places.ts";

const ROOT = new URL("../", import.meta.url).pathname;
const PAGES = ["README.md", ...globSync("docs/**/*.md", { cwd: ROOT })].sort();

const BLOCKS = PAGES.flatMap(blocksOf);
const isRun = ({ needs }: Block) => needs === undefined || needs in PLACES;
const SCRIPTS = BLOCKS.filter((block) => block.language === "sh" && isRun(block));
/** Those that show a session. */
const SESSIONS = BLOCKS.filter((block) => block.language === "text" && isRun(block) && /^\$ (?:stagecoach|kubectl) /.test(block.text));

let place = "";
beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), "docs-commands-"));
  mkdirSync(join(place, "bin"));
  // As it is installed: it starts in a fraction of the time that its sources take.
  execFileSync(process.execPath, ["deploy/package/build.ts", join(place, "dist")], { cwd: ROOT });
  writeFileSync(join(place, "bin/stagecoach"), `#!/bin/sh\nexec ${process.execPath} ${place}/dist/stagecoach.mjs "$@"\n`, { mode: 0o755 });
});
afterAll(() => rmSync(place, { recursive: true }));

/** In a folder of its own with what the block needs: whatever it writes stays there. */
async function inPlace<T>(
  { needs, language }: Block,
  work: (place: Place, run: (script: string) => Promise<Ran>) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(place, "run-"));
  if (needs === undefined && language === "sh") cpSync(join(ROOT, "fixtures"), join(folder, "fixtures"), { recursive: true });
  if (needs === undefined && language === "text") cpSync(join(ROOT, "fixtures/fleet"), folder, { recursive: true });
  const made = needs === undefined ? { cwd: folder } : await PLACES[needs]?.(folder);
  if (made === undefined) throw new Error(`nothing makes ${needs}`);
  try {
    return await work(made, (script) => ran(made, script));
  } finally {
    await made.close?.();
  }
}

function ran({ cwd, env = {}, filledIn = [] }: Place, script: string): Promise<Ran> {
  const PATH = `${env["PATH"] ?? ""}${place}/bin:${process.env["PATH"]}`;
  const text = filledIn.reduce((whole, [name, value]) => whole.replaceAll(name, value), script);
  return typed(text, cwd, { HOME: place, ...env, PATH });
}

test("there are blocks to run, and each that is not says what it needs", () => {
  expect(SCRIPTS.length + SESSIONS.length).toBeGreaterThan(5);
  expect(BLOCKS.filter(({ needs }) => needs === "")).toEqual([]);
  // A block that nobody could tell apart from one that is run: of another shell, or a session that begins with another program.
  const unmarked = BLOCKS.filter((block) => block.needs === undefined && !SCRIPTS.includes(block) && !SESSIONS.includes(block));
  const shells = ["bash", "shell", "console", "zsh", "fish"];
  expect(unmarked.filter(({ language, text }) => shells.includes(language) || /^\$ /m.test(text)).map(({ where }) => where)).toEqual([]);
});

test("what a block needs is made for it, or there is a reason why nothing here can", () => {
  const wanted = new Set(BLOCKS.flatMap(({ needs }) => needs ?? []));
  expect([...wanted].filter((needs) => !(needs in PLACES) && !(needs in ABSENT))).toEqual([]);
  expect([...Object.keys(PLACES), ...Object.keys(ABSENT)].filter((needs) => !wanted.has(needs))).toEqual([]);
  // Each test that a reason names is there.
  const named = Object.values(ABSENT).flatMap((reason) => reason.match(/\b(?:test|src)\/[\w./-]+/g) ?? []);
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test.concurrent.each(SCRIPTS)("$where runs", async (block) => {
  const { code, err } = await inPlace(block, (_, run) => run(block.text));
  expect(code, err).toBe(0);
});

test.concurrent.each(SESSIONS)("$where prints what it shows", (block) =>
  inPlace(block, async ({ shown = [] }, run) => {
    for (const { command, parts } of sessionsIn(block)) {
      const { out, err } = await run(`${command} || true`);
      const said = comparable(out + err);
      for (const part of parts) {
        const expected = shown.reduce((text, [here, there]) => text.replaceAll(here, there), part);
        expect(said).toContain(comparable(expected));
      }
    }
  }),
);
