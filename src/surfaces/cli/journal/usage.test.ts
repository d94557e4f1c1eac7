import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { CommandModule } from "../command.ts";

const COMMANDS: Record<string, () => Promise<CommandModule>> = {
  appset: () => import("../appset/appset.ts"),
  demo: () => import("../demo/demo.ts"),
  explain: () => import("../explain/explain.ts"),
  get: () => import("./get.ts"),
  history: () => import("./history.ts"),
  lint: () => import("../lint/lint.ts"),
  list: () => import("./list.ts"),
  pin: () => import("../pin/pin.ts"),
  plan: () => import("../plan/plan.ts"),
  "sim argocd": () => import("../sim/argocd.ts"),
  "sim github": () => import("../sim/github.ts"),
  version: () => import("../version.ts"),
};
const names = Object.keys(COMMANDS);

let out = "";
let err = "";
beforeEach(() => {
  out = "";
  err = "";
  vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    out += String(chunk);
    return true;
  });
  vi.spyOn(process.stderr, "write").mockImplementation((chunk) => {
    err += String(chunk);
    return true;
  });
});
afterEach(() => vi.restoreAllMocks());

/** The exit code, and what is on standard error, as `main.ts` would have it. */
async function ran(name: string, ...argv: string[]): Promise<{ code: number; err: string }> {
  const command = await COMMANDS[name]?.();
  if (command === undefined) throw new Error(`no command ${name}`);
  try {
    return { code: await command.run(argv), err };
  } catch (error) {
    const { exitCode, message } = error as { exitCode: number; message: string };
    return { code: exitCode, err: `stagecoach: ${message}\n` };
  }
}

test.each(names)("%s: help begins with the whole command and shows no empty defaults", async (name) => {
  expect((await ran(name, "--help")).code).toBe(0);
  expect(out).toMatch(new RegExp(`^Usage: stagecoach ${name} `));
  expect(out).not.toMatch(/default: (\[\]|\{\})/);
});

test.each(names)("%s: an unknown option is exit 2, in one voice, with the way to the help", async (name) => {
  const { code, err: told } = await ran(name, "--nope");
  expect(code).toBe(2);
  expect(told).toMatch(/^stagecoach: [^\n]+\n$/);
  expect(told).toContain(`see stagecoach ${name} --help`);
});

test.each(["explain", "sim argocd"])("%s without what it needs points to its help", async (name) => {
  expect(await ran(name)).toEqual({
    code: 2,
    err: expect.stringMatching(new RegExp(`(not specified|missing).*; see stagecoach ${name} --help`)),
  });
});

test("version has JSON for scripts", async () => {
  expect((await ran("version", "-o", "json")).code).toBe(0);
  expect(JSON.parse(out)).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+/), node: process.versions.node });
});
