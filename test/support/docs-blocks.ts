/** The command blocks of the docs, and what it takes to run one as a reader would. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { onlyCompiled } from "../../src/adapters/git/launch/compiled.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

export interface Block {
  where: string;
  language: string;
  /** What stands behind its fence, `needs: …`. */
  needs: string | undefined;
  text: string;
}

export function blocksOf(page: string): Block[] {
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

/** Each command of a session with what it shows, in the parts between lines left out (`…`). */
export function sessionsIn({ text }: Block): { command: string; parts: string[] }[] {
  const sessions = text.split(/^\$ /m).slice(1);
  return sessions.map((session) => {
    const end = /(?<!\\|\|)\n/.exec(session)?.index ?? session.length;
    const parts = session
      .slice(end + 1)
      .trimEnd()
      .split(/^…$\n?/m);
    return { command: session.slice(0, end), parts: parts.map((part) => part.trim()) };
  });
}

/** Without what differs from one look to the next (ages, names of commits and comments), and without the marks of Markdown. */
export function comparable(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .replaceAll("`", "")
    .replace(/\b\d+(?:ms|[smhd])(?:\d+[smh])*\b/g, "…")
    .replace(/\b[0-9a-f]{40}\b|\b[0-9a-f]{10}\b…?/g, "…")
    .replace(/(\(commit … of |"date":")[\d-]+(?:T[\d:+-]+Z?)?/g, "$1…")
    .replace(/#issuecomment-\d+/g, "#issuecomment-…");
}

export interface Ran {
  code: number;
  out: string;
  err: string;
}

/** Runs a script in a shell that stops at the first failure; what hangs is ended. */
export function typed(script: string, cwd: string, env: Record<string, string>): Promise<Ran> {
  return new Promise((done) => {
    execFile(
      "bash",
      ["--norc", "-euo", "pipefail", "-c", script],
      { cwd, env: { TZ: "UTC", ...onlyCompiled(), ...env }, timeout: 600_000 },
      (error, out, err) => done({ code: error === null ? 0 : Number(error.code ?? 1), out, err }),
    );
  });
}
