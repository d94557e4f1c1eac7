import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { openJournal } from "../../../adapters/git/journal/journal.ts";
import type { IndexEntry } from "../../../adapters/git/journal/port.ts";
import { openMirror } from "../../../adapters/git/mirror.ts";
import type { Mirror } from "../../../adapters/git/port.ts";
import { serveGit } from "../../../adapters/git/testing/http-server.ts";
import { git, type Workspace, workspace } from "../../../adapters/git/testing/repositories.ts";
import { confirmed, freshRun, START, withBatch } from "../../../adapters/git/testing/runs.ts";
import { SEAL } from "../../../adapters/git/testing/seal.ts";
import { said } from "../../../core/reasons/run.ts";
import { runSchema } from "../../../core/report/model/schema/run.ts";
import { run as get } from "./get.ts";
import { run as history } from "./history.ts";
import { run as journalRun } from "./journal-run.ts";
import { run as list } from "./list.ts";
import { run as status } from "./status.ts";
import { run as wait } from "./wait.ts";

/** A time within the last minute. */
const NOW = expect.stringMatching(/^20\d\d-\d\d-\d\dT/);

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

async function printed(
  command: (argv: string[]) => Promise<number>,
  ...argv: string[]
): Promise<{ code: number; text: string; told: string }> {
  let text = "";
  let told = "";
  const tell = vi.spyOn(process.stderr, "write").mockImplementation((chunk) => {
    told += String(chunk);
    return true;
  });
  const write = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  try {
    return { code: await command(argv.some((arg) => arg === "-R") ? argv : [...argv, "--repo", at.checkout]), text, told };
  } finally {
    write.mockRestore();
    tell.mockRestore();
  }
}

test("what the remote has is asked for unasked; without an answer the clone's own is shown, with its age and why", async () => {
  const { text, told } = await printed(list);
  expect(text.split("\n")[1]).toMatch(/^payments +#2 +v1\.4\.2 +◌ Progressing +\S+ +batch 1 waits for its checks$/);
  expect(told).toBe("");
  git(at.checkout, "remote", "set-url", "origin", join(at.directory, "gone.git"));
  const old = await printed(list);
  expect([old.code, old.text]).toEqual([0, text]);
  expect(old.told).toMatch(/^As of (now|\d+s ago): origin of \S+ (is not there, or you cannot see it|could not be asked)/);
  await expect(printed(list, "--fetch")).rejects.toMatchObject({ exitCode: 3 });
  const unasked = await printed(list, "--no-fetch", "-o", "yaml");
  expect(unasked.told).toMatch(/^As of (now|\d+s ago)\.\n$/);
  expect(unasked.text).toMatch(/^apiVersion: stagecoach.dev\/v1\nkind: RolloutList\nasOf: 20\d\d-[\s\S]*- rollout: payments\n/);
  const [one, all] = [await printed(status, "payments", "--no-watch", "-o", "yaml"), await printed(list, "-o", "yaml")];
  expect((parse(one.text) as { asOf: string }).asOf).toBe((parse(all.text) as { asOf: string }).asOf);
});

test("a repository in which no run began says what to do next, in words that are not git's", async () => {
  const repo = join(at.directory, "empty");
  mkdirSync(repo);
  git(repo, "init", "--quiet");
  const none = expect.stringMatching(/no run has begun in \S+empty\. It has no rollouts either: stagecoach init/);
  await expect(list(["--repo", repo])).rejects.toMatchObject({ exitCode: 1, message: none });
  mkdirSync(join(repo, "rollouts"));
  writeFileSync(join(repo, "rollouts/a.yaml"), "");
  const some = expect.stringMatching(/It has rollouts: stagecoach lint .* stagecoach\/journal when the first run begins$/);
  await expect(get(["payments", "--repo", repo])).rejects.toMatchObject({ exitCode: 1, message: some });
  const unknown = /there is no rollout "foo"; no run has begun in \S+empty\. It has rollouts/;
  await expect(wait(["foo", "--repo", repo])).rejects.toMatchObject({ exitCode: 2, message: expect.stringMatching(unknown) });
  writeFileSync(join(repo, "rollouts/a.yaml"), "metadata: { name: payments }\n");
  const meant = expect.stringMatching(/no rollout "paymnts" \(did you mean payments\?\); there is payments$/);
  await expect(wait(["paymnts", "--repo", repo])).rejects.toMatchObject({ exitCode: 2, message: meant });
  for (const command of [get, history, status])
    await expect(command(["paymnts", "--repo", repo])).rejects.toMatchObject({ exitCode: 1, message: meant });
  const notYet = { exitCode: 1, message: "payments has no run yet: the first begins when a release of it is merged" };
  await expect(history(["payments", "--repo", repo])).rejects.toMatchObject(notYet);
  await expect(printed(list, "--fetch", "--branch", "elsewhere")).rejects.toMatchObject({
    exitCode: 1,
    message: expect.stringMatching(/has no runs yet: the bot makes the branch elsewhere .*--branch/),
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
    const refused = (why: RegExp) => ({ exitCode: 3, message: expect.stringMatching(why) });
    await expect(printed(list, "-R", repository)).rejects.toMatchObject(
      refused(/wants to know who you are, and there is no token: gh auth/),
    );
    vi.stubEnv("GH_ENTERPRISE_TOKEN", "wrong");
    await expect(printed(list, "-R", repository)).rejects.toMatchObject(refused(/does not take the token: it is wrong, or has expired/));
    vi.stubEnv("GH_ENTERPRISE_TOKEN", "secret");
    await expect(printed(list, "-R", `http://${host}/acme/other`)).rejects.toMatchObject(
      refused(/is not there, or your token cannot see it/),
    );
    expect(JSON.parse((await printed(get, "payments", "-R", repository, "-o", "json")).text)).toMatchObject({
      number: 2,
      state: second.phase,
      asOf: NOW,
    });
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

test("get prints the run as a document for programs, as a tree and as the comment", async () => {
  await printed(list, "--fetch");
  const told = JSON.parse((await printed(get, "payments", "-o", "json")).text);
  expect(told).toMatchObject({ apiVersion: "stagecoach.dev/v1", kind: "Run", number: 2, state: second.phase, asOf: NOW });
  // What the shape does not have, parsing leaves out.
  expect(runSchema.parse(told)).toEqual(told);
  expect(JSON.parse((await printed(get, "payments", "#1", "-o", "json")).text)).toMatchObject({ number: 1, state: first.phase });
  expect(parse((await printed(get, "payments", "-o", "yaml")).text)).toEqual({ ...told, asOf: NOW });
  const { text } = await printed(get, "payments");
  expect(text).toContain("⧉ batch 1");
  expect(text).not.toContain("\u001b");
  expect((await printed(get, "payments", "-o", "markdown")).text).toContain("payments");
});

test("what only the journal has of a run is printed by journal run", async () => {
  await printed(list, "--fetch");
  expect(parse((await printed(journalRun, "payments")).text)).toEqual({ ...second, asOf: NOW });
  expect(JSON.parse((await printed(journalRun, "payments", "#1", "-o", "json")).text)).toEqual({ ...first, asOf: NOW });
});

test("get --watch ends with the run: 0 where it succeeded, 1 where not", async () => {
  await printed(list, "--fetch");
  expect((await printed(get, "payments", "1", "-w")).code).toBe(0);
  const journal = openJournal({ mirror, app: "stagecoach[bot]", seal: SEAL });
  await journal.read();
  await journal.record({ runs: [{ ...second, phase: "Aborted", why: said("by hand") }], subject: "aborted", trailers: {}, at: START });
  git(at.checkout, "fetch", "--quiet", "origin", "refs/heads/stagecoach/journal:refs/heads/stagecoach/journal");
  const { code, text, told } = await printed(get, "payments", "-w");
  expect(code).toBe(1);
  expect(text).toContain("⊘ Aborted");
  expect(told).toMatch(/payments #\d had ended before; stagecoach status payments --release VERSION waits for that of a release merged/);
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

const WAITS: [string, string[], number, RegExp][] = [
  ["a run that succeeded is done", ["payments", "1"], 0, /^payments #1 is there \(done\): Succeeded/],
  ["a stage that is over", ["payments", "1", "--for", "stage=1"], 0, /is there \(stage=1\)/],
  ["what will never be", ["payments", "1", "--for", "paused"], 1, /will not get there: Succeeded/],
  ["what may come yet", ["payments", "--timeout", "50ms"], 4, /^$/],
  ["a release whose run has not begun", ["payments", "--release", "v9", "--timeout", "50ms"], 4, /^$/],
  ["a rollout of the clone that has no run yet", ["checkout", "--timeout", "50ms"], 4, /^$/],
];

test("wait ends by its exit code, 1 only where it will never be there", async () => {
  mkdirSync(join(at.checkout, "rollouts"));
  writeFileSync(join(at.checkout, "rollouts/checkout.yaml"), "metadata: { name: checkout }\n");
  for (const [what, argv, code, text] of WAITS)
    expect(await printed(wait, ...argv), what).toMatchObject({ code, text: expect.stringMatching(text) });
});

test("a rollout that the remote has and a clone behind it has not is waited for, and no other", async () => {
  await expect(printed(wait, "checkout", "--release", "v9")).rejects.toMatchObject({ exitCode: 2 });
  const ahead = join(at.directory, "ahead");
  git(at.directory, "clone", "--quiet", at.origin, ahead);
  mkdirSync(join(ahead, "rollouts"));
  writeFileSync(join(ahead, "rollouts/checkout.yaml"), "metadata: { name: checkout }\n");
  git(ahead, "add", ".");
  git(ahead, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "--quiet", "-m", "checkout");
  git(ahead, "push", "--quiet", "origin", "HEAD:main");
  expect(await printed(wait, "checkout", "--release", "v9", "--timeout", "50ms")).toMatchObject({ code: 4 });
  const meant = expect.stringMatching(/no rollout "chekcout" \(did you mean checkout\?\); there are payments, checkout$/);
  await expect(printed(wait, "chekcout", "--release", "v9")).rejects.toMatchObject({ exitCode: 2, message: meant });
  // Where one file there cannot be read nobody knows which there are.
  writeFileSync(join(ahead, "rollouts/huge.yaml"), "#".repeat(11 * 1024 * 1024));
  git(ahead, "add", ".");
  git(ahead, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "--quiet", "-m", "huge");
  git(ahead, "push", "--quiet", "origin", "HEAD:main");
  expect(await printed(wait, "billing", "--release", "v9", "--timeout", "50ms")).toMatchObject({ code: 4 });
});

test("wait for a release is over with its run, and not with the run before it", async () => {
  const journal = openJournal({ mirror, app: "stagecoach[bot]", seal: SEAL });
  await journal.read();
  const third = { ...first, number: 3, release: { values: { version: "v9" }, attempt: 0 } };
  const waiting = printed(wait, "payments", "--release", "v9", "--timeout", "60s", "-o", "json");
  // It has looked once, and said that there is no such run yet.
  await vi.waitFor(() => expect(process.stderr.write).toHaveBeenCalled(), { timeout: 60_000 });
  await journal.record({ runs: [third], subject: "payments #3: done", trailers: {}, at: START });
  const { code, text } = await waiting;
  expect([code, JSON.parse(text)]).toEqual([0, expect.objectContaining({ kind: "Run", number: 3, reached: "done", release: "v9" })]);
});

test("status says how it stands in a line, and its exit code is that of kubectl argo rollouts", async () => {
  expect(await printed(status, "payments", "1")).toMatchObject({ code: 0, text: expect.stringMatching(/^Succeeded - .*\n$/) });
  expect(await printed(status, "payments", "--watch=false")).toMatchObject({
    code: 0,
    text: "Progressing - batch 1 waits for its checks\n",
  });
  const { code, told } = await printed(status, "payments", "-t", "50ms");
  expect([code, told]).toEqual([4, expect.stringContaining("The time of --timeout is over")]);
});

test("status ends where the run is paused, with 1: nothing goes on before somebody acts", async () => {
  const journal = openJournal({ mirror, app: "stagecoach[bot]", seal: SEAL });
  await journal.read();
  const paused = { ...second, phase: "Paused", why: said("ana paused it") } as const;
  await journal.record({ runs: [paused], subject: "payments #2: paused", trailers: {}, at: START });
  const { code, text, told } = await printed(status, "payments");
  expect([code, text]).toEqual([1, expect.stringMatching(/^Paused - .*\n$/)]);
  expect(told).toContain("stagecoach wait payments --through-pauses waits for that");
  expect(await printed(status, "payments", "--watch=false")).toMatchObject({ code: 0, text });
});

test("wait ends with 5 where the run is paused, unless that is waited for, or is to be waited through", async () => {
  const journal = openJournal({ mirror, app: "stagecoach[bot]", seal: SEAL });
  await journal.read();
  const paused = { ...second, phase: "Paused", why: said("ana paused it") } as const;
  await journal.record({ runs: [paused], subject: "payments #2: paused", trailers: {}, at: START });
  const text = "payments #2 is paused: ana paused it. It goes on once somebody acts: stagecoach get payments shows how\n";
  expect(await printed(wait, "payments")).toMatchObject({ code: 5, text });
  expect(JSON.parse((await printed(wait, "payments", "-o", "json")).text)).toMatchObject({ state: "Paused", reached: null });
  expect(await printed(wait, "payments", "--for", "done", "--for", "paused")).toMatchObject({ code: 0 });
  expect(await printed(wait, "payments", "--through-pauses", "--timeout", "50ms")).toMatchObject({ code: 4, text: "" });
});

test("where there is one rollout its name may be left out; where there are several they are named", async () => {
  const named = async (command: (argv: string[]) => Promise<number>, ...argv: string[]) => (await printed(command, ...argv)).text;
  for (const [command, ...argv] of [[get], [history], [status, "--watch=false"]] as const)
    expect(await named(command, ...argv)).toBe(await named(command, "payments", ...argv));
  await expect(printed(wait, "--for", "stage=x")).rejects.toMatchObject({ message: expect.stringContaining("payments #2 has no stage") });
  const journal = openJournal({ mirror, app: "stagecoach[bot]", seal: SEAL });
  await journal.read();
  await journal.record({ runs: [{ ...first, rollout: "web" }], subject: "web #1: started", trailers: {}, at: START });
  for (const command of [get, history, status, wait])
    await expect(printed(command)).rejects.toMatchObject({ exitCode: 2, message: "name the rollout; there are payments, web" });
});

test("wide shows more, and nothing is cut", async () => {
  expect((await printed(list, "-o", "wide")).text).toMatch(/STARTED +PULL +BY +WHY\n.* #7 +ana +batch 1/);
  expect((await printed(history, "payments", "-o", "wide")).text).toMatch(/PULL +BY +WHY\n#2 .*#7 +ana +batch 1/);
  expect((await printed(history, "payments", "2", "-o", "wide")).text).toMatch(/[0-9a-f]{40} +ana +payments #2: batch 1 proposed\n/);
  expect((await printed(get, "payments", "-o", "wide")).text).toContain("⧉ batch 1");
});

test("history lists the runs, and what happened in one", async () => {
  await printed(list, "--fetch");
  expect((await printed(history, "payments")).text).toMatch(/^RUN .*\n#2 .*Progressing.*-\n#1 .*Succeeded.*5m\n$/);
  expect((await printed(history, "payments", "2")).text).toContain("payments #2: batch 1 proposed (by ana)");
  const { events } = JSON.parse((await printed(history, "payments", "1", "-o", "json")).text);
  expect(events).toMatchObject([{ subject: "payments #1: succeeded", trailers: { "Stagecoach-Actor": "ana" } }]);
});

const MISTAKES: [string, (argv: string[]) => Promise<number>, string[], number, RegExp][] = [
  ["an unknown rollout", get, ["paymnts"], 1, /did you mean payments\?\); there is payments/],
  ["an unknown run", get, ["payments", "9"], 1, /last one is #2/],
  ["a number that is none", get, ["payments", "../x"], 2, /no number/],
  ["an unknown format", list, ["-o", "xml"], 2, /xml/],
  ["an unknown option", list, ["--nope"], 2, /nope/],
  ["a mistyped option", get, ["payments", "--wath"], 2, /Did you mean --watch\?/],
  ["a mistyped rollout to wait for", wait, ["paymnts"], 2, /did you mean payments\?/],
  ["a rollout to wait for that nobody has", wait, ["foo"], 2, /no rollout "foo"; there is payments$/],
  ["a mistyped rollout of a release", status, ["paymnts", "--release", "v9"], 2, /did you mean payments\?/],
  ["a mistyped rollout's history", history, ["paymnts"], 1, /did you mean payments\?/],
  [
    "a mistyped stage",
    wait,
    ["payments", "--for", "stage=canary in EMAE"],
    2,
    /no stage "canary in EMAE" \(did you mean canary in EMEA\?\)/,
  ],
  ["a mistyped goal", wait, ["payments", "--for", "don"], 2, /did you mean done\?/],
  ["a time that is none", wait, ["payments", "--timeout", "5"], 2, /90s, 30m or 2h/],
];

test("what is mistyped ends with a reason, and where it is near to something with what was meant", async () => {
  await printed(list, "--fetch");
  for (const [what, command, argv, exitCode, message] of MISTAKES)
    await expect(printed(command, ...argv, "--no-fetch"), what).rejects.toMatchObject({
      exitCode,
      message: expect.stringMatching(message),
    });
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
  expect((await printed(list)).text).toMatch(/payments: v9 \(#12\) was merged and started no run: rollouts\/payments\.yaml/);
});
