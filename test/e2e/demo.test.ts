import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import type { Fleet } from "../../src/core/report/model/schema/fleet.ts";
import type { RunDocument } from "../../src/core/report/model/schema/run.ts";
import type { ModelNode } from "../../src/core/report/model/types.ts";
import { blocksOf, comparable, sessionsIn, typed } from "../support/docs-blocks.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

let demo: ChildProcess | undefined;
let bin: string | undefined;
afterEach(async () => {
  demo?.kill("SIGKILL");
  if (bin !== undefined) await rm(bin, { recursive: true });
});

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

/** A PATH on which `stagecoach` is the program of this checkout. */
async function withStagecoach(): Promise<string> {
  bin ??= await mkdtemp(join(tmpdir(), "stagecoach-bin-"));
  await writeFile(join(bin, "stagecoach"), `#!/bin/sh\nexec ${process.execPath} ${ROOT}src/surfaces/cli/main.ts "$@"\n`, { mode: 0o755 });
  return `${bin}:${process.env["PATH"]}`;
}

/** Starts what goes on until it is stopped, and stops it once it has shown this. */
async function shows(command: string, PATH: string, text: RegExp): Promise<void> {
  const child = spawn("bash", ["-c", `exec ${command}`], { cwd: tmpdir(), env: { PATH }, stdio: ["ignore", "pipe", "inherit"] });
  let out = "";
  try {
    for await (const part of child.stdout) {
      out += String(part);
      if (text.test(out)) return;
    }
    throw new Error(`${command} ended without ${text}:\n${out}`);
  } finally {
    child.kill("SIGKILL");
  }
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

function pullsIn({ links, children }: Pick<ModelNode, "links" | "children">): string[] {
  return [...links.map(({ url }) => url), ...children.flatMap(pullsIn)].filter((url) => url.includes("/pull/"));
}

const MOST_PAGES = 150;

describe("the demo", () => {
  test("leads everywhere it names, waits for whoever watches, and goes on as they say", async () => {
    const { out, until, ended } = start("--pause-for-me", "--fail", "eu-central-1-b=degraded", "--clusters", "6", "--speed", "200");
    const pull = await until(/Your turn[\s\S]*?comment: (http\S+)/);
    const page = await until(/The page: (\S+)/);
    const fleet = await fetch(`${page}api/v1/fleet`);
    // While somebody is waited for, its clock runs as fast as theirs.
    expect(fleet.headers.get("Stagecoach-Speed")).toBe("1");
    const { rollouts } = (await fleet.json()) as Fleet;
    const runs = rollouts.map(
      async (one) => (await (await fetch(`${page}api/v1/repos/${one.repository}/rollouts/${one.rollout}`)).json()) as RunDocument,
    );
    const batches = (await Promise.all(runs)).flatMap(pullsIn);
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
    // A session of docs/cli.md, typed: the run stands still until it is taken back.
    const [session] = blocksOf("docs/cli.md").filter(({ needs }) => needs === "a bot at work");
    const repository = await until(/GitHub: +(\S+)/);
    const env = { GH_ENTERPRISE_TOKEN: await until(/GH_ENTERPRISE_TOKEN=(\S+)/), PATH: await withStagecoach() };
    for (const { command, parts } of session === undefined ? [] : sessionsIn(session)) {
      const { out: said, err } = await typed(`${command} -R ${repository}`, tmpdir(), env);
      expect(comparable(said.replaceAll(repository, "https://github.com/acme/fleet")), err).toContain(comparable(parts.join("\n")));
    }
    expect(await typed(`stagecoach resume my-app -R ${repository}`, tmpdir(), env)).toMatchObject({ code: 0 });
    const token = /name="token" value="([^"]+)"/.exec(asked)?.[1] ?? "";
    const body = new URLSearchParams({ token, body: "/promote" });
    const posted = await fetch(`${pull}/comment`, { method: "POST", body, headers: HTML });
    expect([posted.status, await posted.text()]).toEqual([200, expect.stringContaining("<p>/promote</p>")]);
    await until(/eu-west-1, batch 1 of \d+ \(PR #\d+\): (Syncing|Healthy)/);
    // It is answered beside what it began, and no line of the terminal says when.
    await expect.poll(async () => await (await fetch(pull, { headers: HTML })).text(), { timeout: 100_000 }).toContain("🚀");
    // At the failure the tutorial's own commands are typed: the run is watched, and that cluster left out.
    const failed = await until(/eu-central-1-b failed[\s\S]*?GH_ENTERPRISE_TOKEN=(\S+)/);
    const [block] = blocksOf("docs/tutorial.md").filter(({ needs }) => needs === "the demo's address and token");
    const [skip = "", watch = ""] =
      block?.text.replaceAll("http://127.0.0.1:…/acme/fleet", repository).replace("=…", `=${failed}`).split("\n") ?? [];
    await shows(watch, env.PATH, /Status: .*Paused/);
    expect(await typed(skip, tmpdir(), env)).toMatchObject({ code: 0 });
    // Without a terminal it ends by itself.
    expect([await ended, out()]).toEqual([[0, null], expect.stringMatching(/Succeeded: every stage is done/)]);
  });
});
