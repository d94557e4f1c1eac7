/** `-o` of every command that prints: JSON and nothing else, the same as YAML, more where it is wide, and a sentence for what is not offered. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { rawApplication } from "../../adapters/argocd/testing/application.ts";
import { openJournal } from "../../adapters/git/journal/journal.ts";
import { openMirror } from "../../adapters/git/mirror.ts";
import type { Mirror } from "../../adapters/git/port.ts";
import { type Workspace, workspace } from "../../adapters/git/testing/repositories.ts";
import { confirmed, freshRun, START, withBatch } from "../../adapters/git/testing/runs.ts";
import { SEAL } from "../../adapters/git/testing/seal.ts";
import { COMMAND_NAMES } from "../../core/spec/commands.ts";
import type { CommandModule } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { sampleRepo } from "./testing/sample-repo.ts";

const here = sampleRepo();
let at: Workspace;
let mirror: Mirror;

/** One run, which the checkout has fetched; every command here only reads it. */
beforeAll(async () => {
  at = workspace();
  mirror = await openMirror({ directory: join(at.directory, "mirror.git"), url: at.origin, allowFile: true });
  const run = { ...confirmed(withBatch(freshRun(4, 4), "Open", START), START + 60_000), phase: "Succeeded", stage: 1 } as const;
  const ended = { ...run, endedAt: "2026-11-21T04:05:00.000Z" };
  await openJournal({ mirror, app: "stagecoach[bot]", seal: SEAL }).record({ runs: [ended], subject: "done", trailers: {}, at: START });
});

afterAll(async () => {
  await mirror.close();
  at.remove();
});

const PIN = ["appsets/my-app-set.yaml", "spec.generators[0].list.elements[cluster=eu-west-1-a].targetRevision"] as const;

/** What is typed after the command's name, and which formats it has besides text, JSON and YAML. */
const PRINTING: Record<string, [argv: () => string[], more?: readonly ("wide" | "markdown")[]]> = {
  init: [() => [here.dir], ["markdown"]],
  lint: [() => ["--repo", here.dir], ["markdown"]],
  plan: [() => ["my-app", "--repo", here.dir, "--to", "v1.4.2"], ["markdown"]],
  simulate: [() => ["my-app", "--repo", here.dir, "--to", "v1.4.2", "--runs", "1"], ["markdown"]],
  pin: [() => ["get", join(here.dir, PIN[0]), PIN[1]]],
  appset: [() => ["render", join(here.dir, PIN[0])]],
  explain: [
    () => [
      "--application",
      join(here.dir, "app.json"),
      "--revision",
      "v1",
      "--merged-at",
      "2026-01-01T00:00:00Z",
      "--now",
      "2026-01-01T01:00:00Z",
    ],
  ],
  list: [() => ["--repo", at.checkout], ["wide"]],
  get: [() => ["payments", "--repo", at.checkout], ["wide", "markdown"]],
  status: [() => ["payments", "--repo", at.checkout]],
  wait: [() => ["payments", "--repo", at.checkout]],
  history: [() => ["payments", "--repo", at.checkout], ["wide"]],
  journal: [() => ["show", "--fetch", "--repo", at.checkout]],
  version: [() => []],
};

/** They need a world or a service to print anything; what they are given to print is checked beside them. */
const ELSEWHERE = ["demo", "analysis", "release", "comment", ...COMMAND_NAMES];
/** They print no answer of their own: logs, scripts, the JSON of what was started. */
const WITHOUT = ["serve", "migrate", "sim", "completion", "notify"];

async function ran(name: string, ...argv: string[]): Promise<string> {
  here.clear();
  const command: CommandModule | undefined = await COMMANDS[name]?.load();
  await command?.run(argv);
  return here.out;
}

test("every command is looked at here, or said to be elsewhere", () => {
  const known = [...Object.keys(PRINTING), ...ELSEWHERE, ...WITHOUT];
  expect(Object.keys(COMMANDS).filter((name) => !known.includes(name))).toEqual([]);
});

describe.each(Object.entries(PRINTING))("%s", (name, [argv, more = []]) => {
  beforeEach(() => {
    const status = { sync: { status: "Synced", revision: "v1" } };
    writeFileSync(join(here.dir, "app.json"), JSON.stringify(rawApplication({ status })));
  });

  test("prints JSON and nothing else, and the same as YAML", async () => {
    const data: unknown = JSON.parse(await ran(name, ...argv(), "-o", "json"));
    expect(data).toBeTypeOf("object");
    const yaml = await ran(name, ...argv(), "-o", "yaml");
    expect(yaml).not.toMatch(/^\s*[{[]/);
    // kubectl takes objects as documents, not as a list.
    const documents = parseAllDocuments(yaml).map((one) => one.toJS() as unknown);
    expect(timeless(Array.isArray(data) ? documents : documents[0])).toEqual(timeless(data));
  });

  test("says which formats it has where it is asked for another one", async () => {
    const formats = ["text", "json", "yaml", "wide", "markdown"].filter(
      (one) => !["wide", "markdown"].includes(one) || more.includes(one as "wide"),
    );
    for (const format of ["wide", "markdown", "xml"].filter((one) => !formats.includes(one))) {
      // A command with commands of its own writes what commander says of them, and gives the code.
      const told = await ran(name, ...argv(), "-o", format).then(
        () => here.err,
        (error: { exitCode: number; message: string }) => `${error.exitCode} ${error.message}`,
      );
      expect(told).toMatch(new RegExp(`(^2 |stagecoach: )--output ${format}: .*see stagecoach ${name}`));
      expect(here.out).toBe("");
      for (const one of formats) expect(told).toContain(one);
    }
  });
});

/** Without what differs from one call to the next. */
function timeless(data: unknown): unknown {
  return JSON.parse(JSON.stringify(data), (key, value: unknown) => (key === "asOf" ? undefined : value));
}

test("in a repo without rollouts lint, plan and simulate say what makes some", async () => {
  rmSync(join(here.dir, "rollouts"), { recursive: true });
  rmSync(join(here.dir, ".github"), { recursive: true, force: true });
  const told = { message: expect.stringMatching(/stagecoach init proposes some$/) };
  await expect(ran("lint", "--repo", here.dir)).rejects.toMatchObject({ ...told, exitCode: 1 });
  for (const name of ["plan", "simulate"])
    await expect(ran(name, "my-app", "--repo", here.dir)).rejects.toMatchObject({ ...told, exitCode: 2 });
});

const WIDE = Object.entries(PRINTING).filter(([, [, more = []]]) => more.includes("wide"));

test.each(WIDE)("%s has more where it is wide, and cuts nothing", async (name, [argv]) => {
  const { columns } = process.stdout;
  process.stdout.columns = 70;
  try {
    const text = await ran(name, ...argv());
    expect((await ran(name, ...argv(), "-o", "wide")).length).toBeGreaterThan(text.length);
  } finally {
    process.stdout.columns = columns;
  }
});
