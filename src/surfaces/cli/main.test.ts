import { execFile } from "node:child_process";
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
])("%s is answered with the command it is near to, %s", async (name, meant) => {
  expect(await ran(name)).toEqual({
    code: 2,
    err: `stagecoach: there is no command "${name}", did you mean ${meant}?; stagecoach --help lists them\n`,
  });
});

test("a word that is near to no command is told so without a guess", async () => {
  expect((await ran("frobnicate")).err).toBe('stagecoach: there is no command "frobnicate"; stagecoach --help lists them\n');
});
