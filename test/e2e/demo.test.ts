import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import type { ModelNode } from "../../src/core/report/model/types.ts";
import type { WebState } from "../../src/surfaces/web/server.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

let demo: ChildProcess | undefined;
afterEach(() => void demo?.kill("SIGKILL"));

function start(...args: string[]) {
  const child = spawn(process.execPath, ["src/surfaces/cli/main.ts", "demo", ...args], { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
  demo = child;
  const ended = once(child, "exit");
  let out = "";
  const heard = new Set<() => void>();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    for (const listener of heard) listener();
  });
  return {
    out: () => out,
    ended,
    /** What the text's first group holds, as soon as it is there. */
    until: (text: RegExp) =>
      new Promise<string>((resolve, reject) => {
        const look = () => {
          const [all, group] = text.exec(out) ?? [];
          if (all === undefined) return;
          heard.delete(look);
          resolve(group ?? all);
        };
        heard.add(look);
        look();
        void ended.then(() => reject(new Error(`it ended without ${text}:\n${out}`)));
      }),
  };
}

const HTML = { accept: "text/html" };
const LINK = /<a\b[^>]*\bhref="([^"#]+)/g;

/** Every address that the page leads to, on the same machine. */
async function linksOf(url: string): Promise<string[]> {
  const answer = await fetch(url, { headers: HTML });
  const type = answer.headers.get("content-type") ?? "";
  expect([url, answer.status, /^text\/(?:html|plain);/.test(type)]).toEqual([url, 200, true]);
  const text = type.startsWith("text/html") ? (await answer.text()).replaceAll("&amp;", "&") : "";
  return [...text.matchAll(LINK)]
    .map(([, href = ""]) => new URL(href, answer.url).href)
    .filter((href) => /^http:\/\/127\.0\.0\.1:/.test(href));
}

function pullsIn({ links, children }: ModelNode): string[] {
  return [...links.map(({ url }) => url), ...children.flatMap(pullsIn)].filter((url) => url.includes("/pull/"));
}

const MOST_PAGES = 150;

describe("the demo", () => {
  test("leads everywhere it names, waits for whoever watches, and goes on as they say", async () => {
    const { out, until, ended } = start("--pause-for-me", "--clusters", "4", "--speed", "200");
    const pull = await until(/Your turn[\s\S]*?comment: (http\S+)/);
    const page = await until(/The page: (\S+)/);
    const { runs } = (await (await fetch(`${page}api/runs`)).json()) as WebState;
    const batches = runs.flatMap(pullsIn);
    expect(batches).toContain(pull);
    const found = new Set([page, ...batches, ...(out().match(/http:\/\/127[^\s)]+/g) ?? [])]);
    // What is found is walked, too.
    for (const url of found) if (found.size < MOST_PAGES) for (const link of await linksOf(url)) found.add(link);
    expect(found.size).toBeGreaterThan(40);
    for (const part of ["/commit/", "/blob/", "/runs/", "/tree/", "/files", "/applications/argocd/"])
      expect([...found].some((url) => url.includes(part))).toBe(true);

    // All the while nothing was merged without a yes.
    const asked = await (await fetch(pull, { headers: HTML })).text();
    expect(asked).toContain('class="state open"');
    expect(asked).toContain('value="/promote"');
    const token = /name="token" value="([^"]+)"/.exec(asked)?.[1] ?? "";
    const body = new URLSearchParams({ token, body: "/promote" });
    const posted = await fetch(`${pull}/comment`, { method: "POST", body, headers: HTML });
    expect([posted.status, await posted.text()]).toEqual([200, expect.stringContaining("<p>/promote</p>")]);
    await until(/eu-west-1 1 \(PR #\d+\): (Merged|Syncing)/);
    expect(await (await fetch(pull, { headers: HTML })).text()).toContain("🚀");
    // Without a terminal it ends by itself.
    expect([await ended, out()]).toEqual([[0, null], expect.stringMatching(/Succeeded: every stage is done/)]);
  });
});
