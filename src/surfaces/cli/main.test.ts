import { execFile, spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

const MAIN = new URL("./main.ts", import.meta.url).pathname;

async function ran(...args: string[]): Promise<{ code: unknown; out: string; err: string }> {
  return await new Promise((done) => {
    execFile(process.execPath, [MAIN, ...args], (error, out, err) => done({ code: error?.code ?? 0, out, err }));
  });
}

test.each([
  ["lnt", "lint"],
  ["pln", "plan"],
  ["simulat", "simulate"],
  ["rolback", "rollback"],
  ["wiat", "wait"],
])("%s is answered with the command it is near to, %s", async (name, meant) => {
  expect(await ran(name)).toEqual({
    code: 2,
    out: "",
    err: `stagecoach: there is no command "${name}" (did you mean ${meant}?); stagecoach --help lists them\n`,
  });
});

test.each([
  [["sim", "githb"], 'sim has no part "githb" (did you mean github?)'],
  [["journal", "acept"], 'journal has no part "acept" (did you mean accept?)'],
  [["completion", "bsh"], 'there is no script for "bsh" (did you mean bash?)'],
])("%j, a mistyped part of a command, is answered with the one that was meant", async (argv, message) => {
  expect(await ran(...argv)).toMatchObject({ code: 2, out: "", err: expect.stringContaining(message) });
});

test("a word that is near to no command is told so without a guess", async () => {
  expect((await ran("frobnicate")).err).toBe('stagecoach: there is no command "frobnicate"; stagecoach --help lists them\n');
});

test("every command stands in the help, and completion knows each", async () => {
  const names = [...(await ran("--help")).out.matchAll(/^ {2}([a-z]+) {2}/gm)].map((match) => match[1] ?? "");
  expect(names).toEqual(expect.arrayContaining(["demo", "status", "wait", "comment", "sim", "version"]));
  const { out } = await ran("completion", "fish");
  for (const name of names) expect(out).toContain(`-a ${name} -d`);
});

test("whatever is typed or stands in a repo, nothing printed steers the terminal, as text or as Markdown", async () => {
  const evil = "x\u001b[31m\u202e";
  const repo = mkdtempSync(join(tmpdir(), "evil-"));
  try {
    cpSync(new URL("../../../fixtures/minimal", import.meta.url), repo, { recursive: true });
    const change = (file: string, from: string, to: string) =>
      writeFileSync(join(repo, file), readFileSync(join(repo, file), "utf8").replace(from, to));
    change("rollouts/hello.yaml", "name: staging\n", 'name: "st\\e[2J\\e]0;own\\a<img src=x>\\u202e **b**"\n');
    change("appsets/hello.yaml", "cluster: prod-eu-1", 'cluster: "prod\\e[31m-eu\\u202e<b>"');
    const lines = [
      ["lint", "--repo", repo],
      ["plan", "hello", "--repo", repo, "--to", "v2"],
      ["plan", "hello", "--repo", repo, "--to", "v2", "-o", "markdown"],
      ["simulate", "hello", "--repo", repo, "--to", "v2", "--runs", "1"],
      ["simulate", "hello", "--repo", repo, "--to", "v2", "--runs", "1", "-o", "markdown"],
      ["init", repo],
      ["appset", "render", join(repo, "appsets/hello.yaml")],
      ["plan", evil, "--repo", repo],
      [evil],
      ["lint", `--${evil}`],
      ["pin", `--${evil}`],
      ["explain", "--application", evil, "--merged-at", "2026-01-01T00:00:00Z", "--revision", "x"],
    ];
    const printed = await Promise.all(lines.map(async (line) => ({ line, ...(await ran(...line)) })));
    expect(printed.map(({ out }) => out).join("")).toContain("img src=x");
    for (const { line, out, err } of printed)
      expect(
        [...out, ...err].filter((one) => one !== "\n" && /[\p{Cc}\u202e]/u.test(one)),
        line.join(" "),
      ).toEqual([]);
  } finally {
    rmSync(repo, { recursive: true });
  }
});

test.each([
  ["a reader that wants no more", "stdout"],
  ["a reader of errors that is gone", "stderr"],
] as const)("%s ends it without a stack", async (_, closed) => {
  const fleet = new URL("../../../fixtures/fleet", import.meta.url).pathname;
  const args =
    closed === "stdout" ? ["simulate", "my-app", "--repo", fleet, "--to", "v2", "-o", "json"] : ["get", "my-app", "--repo", "/nowhere"];
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let err = "";
  child.stderr.on("data", (chunk) => {
    err += String(chunk);
  });
  child[closed].destroy();
  const code = await new Promise((done) => child.on("close", done));
  expect([code, err]).toEqual([closed === "stdout" ? 0 : 2, ""]);
});
