import { execFile, spawn } from "node:child_process";
import { expect, test } from "vitest";

const MAIN = new URL("./main.ts", import.meta.url).pathname;

async function ran(...args: string[]): Promise<{ code: unknown; err: string }> {
  return await new Promise((done) => {
    execFile(process.execPath, [MAIN, ...args], (error, _, err) => done({ code: error?.code ?? 0, err }));
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
    err: `stagecoach: there is no command "${name}", did you mean ${meant}?; stagecoach --help lists them\n`,
  });
});

test("a word that is near to no command is told so without a guess", async () => {
  expect((await ran("frobnicate")).err).toBe('stagecoach: there is no command "frobnicate"; stagecoach --help lists them\n');
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
