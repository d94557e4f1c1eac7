import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openJournal } from "../../../adapters/git/journal/journal.ts";
import type { IndexEntry } from "../../../adapters/git/journal/port.ts";
import { openMirror } from "../../../adapters/git/mirror.ts";
import type { Mirror } from "../../../adapters/git/port.ts";
import { serveGit } from "../../../adapters/git/testing/http-server.ts";
import { git, type Workspace, workspace } from "../../../adapters/git/testing/repositories.ts";
import { confirmed, freshRun, START, withBatch } from "../../../adapters/git/testing/runs.ts";
import { SEAL } from "../../../adapters/git/testing/seal.ts";
import { said } from "../../../core/reasons/run.ts";
import { run as get } from "./get.ts";
import { run as history } from "./history.ts";
import { run as list } from "./list.ts";

let at: Workspace;
let mirror: Mirror;
const first = {
  ...confirmed(withBatch(freshRun(4, 4), "Open", START), START + 60_000),
  phase: "Succeeded",
  stage: 1,
  endedAt: "2026-11-21T04:05:00.000Z",
} as const;
const second = withBatch(freshRun(4, 2, { number: 2, why: said("batch 1 waits for its checks") }), "Open", START);

beforeEach(async () => {
  at = workspace();
  mirror = await openMirror({ directory: join(at.directory, "mirror.git"), url: at.origin, allowFile: true });
  const journal = openJournal({ mirror, app: "stagecoach[bot]", seal: SEAL });
  const trailers = { "Stagecoach-Actor": "ana" };
  await journal.record({ runs: [first], subject: "payments #1: succeeded", trailers, at: START });
  await journal.record({ runs: [second], subject: "payments #2: batch 1 proposed", trailers, at: START + 1000 });
});

afterEach(async () => {
  vi.restoreAllMocks();
  await mirror.close();
  at.remove();
});

async function printed(command: (argv: string[]) => Promise<number>, ...argv: string[]): Promise<{ code: number; text: string }> {
  let text = "";
  const write = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  try {
    return { code: await command(argv.some((arg) => arg === "-R") ? argv : [...argv, "--repo", at.checkout]), text };
  } finally {
    write.mockRestore();
  }
}

test("a checkout without the journal says how to get it, and --fetch gets it", async () => {
  await expect(printed(list)).rejects.toMatchObject({ exitCode: 1, message: expect.stringContaining("--fetch") });
  const { text } = await printed(list, "--fetch");
  expect(text.split("\n")[1]).toMatch(/^payments +#2 +v1\.4\.2 +◌ Progressing +\S+ +batch 1 waits for its checks$/);
  expect((await printed(list)).text).toBe(text);
});

test("a remote without the journal is told in words, not in git's", async () => {
  await expect(printed(list, "--fetch", "--branch", "elsewhere")).rejects.toMatchObject({
    exitCode: 1,
    message: expect.stringMatching(/has no branch elsewhere: no run has begun there, or .*--branch/),
  });
});

test("a repository on GitHub is read without a checkout, with the person's token, which is in no argument", async () => {
  const remote = await serveGit(join(at.origin, ".."), { password: "secret" });
  const cache = join(at.directory, "cache");
  const { host } = new URL(remote.url);
  const repository = `http://${host}/acme/fleet`;
  mkdirSync(join(at.origin, "../acme"), { recursive: true });
  symlinkSync(at.origin, join(at.origin, "../acme/fleet.git"));
  vi.stubEnv("XDG_CACHE_HOME", cache);
  try {
    await expect(printed(list, "-R", repository)).rejects.toMatchObject({ exitCode: 3 });
    vi.stubEnv("GH_ENTERPRISE_TOKEN", "secret");
    expect(JSON.parse((await printed(get, "payments", "-R", repository, "-o", "json")).text)).toEqual(second);
    expect(remote.authorizations).toContain(`Basic ${Buffer.from("x-access-token:secret").toString("base64")}`);
    const kept = readFileSync(join(cache, "stagecoach/journals", host.replace(":", "+"), "acme/fleet.git/config"), "utf8");
    expect(kept).not.toContain("secret");
    for (const bad of ["fleet", "../fleet", "acme/.."])
      await expect(printed(list, "-R", bad)).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining("is no repository") });
  } finally {
    vi.unstubAllEnvs();
    await remote.close();
  }
});

test("get prints the run as it is in the journal, as a tree and as the comment", async () => {
  await printed(list, "--fetch");
  expect(JSON.parse((await printed(get, "payments", "-o", "json")).text)).toEqual(second);
  expect(JSON.parse((await printed(get, "payments", "#1", "-o", "json")).text)).toEqual(first);
  const { text } = await printed(get, "payments");
  expect(text).toContain("⧉ batch 1");
  expect(text).not.toContain("\u001b");
  expect((await printed(get, "payments", "-o", "markdown")).text).toContain("payments");
});

test("get --watch ends with the run: 0 where it succeeded, 1 where not", async () => {
  await printed(list, "--fetch");
  expect((await printed(get, "payments", "1", "-w")).code).toBe(0);
  const journal = openJournal({ mirror, app: "stagecoach[bot]", seal: SEAL });
  await journal.read();
  await journal.record({ runs: [{ ...second, phase: "Aborted", why: said("by hand") }], subject: "aborted", trailers: {}, at: START });
  git(at.checkout, "fetch", "--quiet", "origin", "refs/heads/stagecoach/journal:refs/heads/stagecoach/journal");
  const { code, text } = await printed(get, "payments", "-w");
  expect(code).toBe(1);
  expect(text).toContain("⊘ Aborted");
});

test("get --watch draws again when the journal moves", async () => {
  await printed(list, "--fetch");
  const journal = openJournal({ mirror, app: "stagecoach[bot]", seal: SEAL });
  await journal.read();
  let drawn = "";
  const write = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    drawn += String(chunk);
    if (drawn.includes("batch 1 waits") && !drawn.includes("NEVER")) {
      drawn += "NEVER";
      void journal
        .record({ runs: [{ ...second, phase: "Succeeded", why: said("All done.") }], subject: "done", trailers: {}, at: START })
        .then(() =>
          git(at.checkout, "fetch", "--quiet", "origin", "+refs/heads/stagecoach/journal:refs/remotes/origin/stagecoach/journal"),
        );
    }
    return true;
  });
  const code = await get(["payments", "-w", "--repo", at.checkout]);
  write.mockRestore();
  expect([code, drawn.includes("All done.")]).toEqual([0, true]);
});

test("history lists the runs, and what happened in one", async () => {
  await printed(list, "--fetch");
  expect((await printed(history, "payments")).text).toMatch(/^RUN .*\n#2 .*Progressing.*-\n#1 .*Succeeded.*5m\n$/);
  expect((await printed(history, "payments", "2")).text).toContain("payments #2: batch 1 proposed (by ana)");
  const { events } = JSON.parse((await printed(history, "payments", "1", "-o", "json")).text);
  expect(events).toMatchObject([{ subject: "payments #1: succeeded", trailers: { "Stagecoach-Actor": "ana" } }]);
});

test.each<[string, (argv: string[]) => Promise<number>, string[], number, RegExp]>([
  ["an unknown rollout", get, ["paymnts"], 1, /it has payments/],
  ["an unknown run", get, ["payments", "9"], 1, /last one is #2/],
  ["a number that is none", get, ["payments", "../x"], 2, /no number/],
  ["no name", history, [], 2, /missing required argument/],
  ["an unknown format", list, ["-o", "xml"], 2, /xml/],
  ["an unknown option", list, ["--nope"], 2, /nope/],
])("%s ends with a reason", async (_, command, argv, exitCode, message) => {
  await printed(list, "--fetch");
  await expect(printed(command, ...argv)).rejects.toMatchObject({ exitCode, message: expect.stringMatching(message) });
});

test("a directory that is no repository, or is not there, is wrong usage", async () => {
  await expect(list(["--repo", at.directory])).rejects.toMatchObject({ exitCode: 2 });
  await expect(list(["--repo", join(at.directory, "nope")])).rejects.toMatchObject({ exitCode: 2 });
});

test("a release that was merged since and started no run is told, in JSON with its problems", async () => {
  const journal = openJournal({ mirror, app: "stagecoach[bot]", seal: SEAL });
  const { index } = await journal.read();
  const problems = [{ code: "NO_ROLLOUTS", file: "rollouts/payments.yaml", line: 3, column: 1, path: [], severity: "error" }];
  const refused = { values: { version: "v9" }, attempt: 1, commit: "c".repeat(40), pull: 12, at: "2026-11-21T05:00:00.000Z", problems };
  const entry = { ...index.get("payments"), refused } as IndexEntry;
  await journal.record({ runs: [], index: new Map([["payments", entry]]), subject: "refused", trailers: {}, at: START + 2000 });
  const { text } = await printed(get, "payments", "--fetch", "-o", "json");
  expect(JSON.parse(text)).toMatchObject({
    number: 2,
    refused: { pull: 12, problems: [{ code: "NO_ROLLOUTS", file: "rollouts/payments.yaml" }] },
  });
  expect(JSON.parse((await printed(get, "payments", "1", "-o", "json")).text)).not.toHaveProperty("refused");
});
