import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createReadStream, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openJournal } from "../../../adapters/git/journal/journal.ts";
import type { Journal } from "../../../adapters/git/journal/port.ts";
import { openMirror } from "../../../adapters/git/mirror.ts";
import type { Mirror } from "../../../adapters/git/port.ts";
import { git, type Workspace, workspace } from "../../../adapters/git/testing/repositories.ts";
import { confirmed, freshRun, START, withBatch } from "../../../adapters/git/testing/runs.ts";
import { SEAL } from "../../../adapters/git/testing/seal.ts";
import { textWidth } from "../../../core/base/text-width.ts";
import { said } from "../../../core/reasons/run.ts";
import type { Run } from "../../../core/run/state/run.ts";
import { follow } from "./follow.ts";
import { run as get } from "./get.ts";
import { run as history } from "./history.ts";
import { run as list } from "./list.ts";
import { withSource } from "./source.ts";
import { run as status } from "./status.ts";
import { run as wait } from "./wait.ts";

/** What a hostile name may be made of: it moves the cursor, sets the title, is HTML and Markdown, and turns the text's direction. */
const EVIL = "\u001b[2J\u001b]0;owned\u0007<img src=x onerror=alert(1)> **bold** [x](javascript:1)\r\n\u202e\u009b31m";
const ESC = String.fromCharCode(27);

let at: Workspace;
let mirror: Mirror;
let journal: Journal;
const going = withBatch(confirmed(withBatch(freshRun(6, 2), "Merged", START), START + 60_000), "Open", START + 120_000);
const second: Run = { ...going, number: 2, why: said("batch 2 of 3 waits for its checks, which GitHub has not reported yet") };

beforeEach(async () => {
  at = workspace();
  mirror = await openMirror({ directory: join(at.directory, "mirror.git"), url: at.origin, allowFile: true });
  journal = openJournal({ mirror, app: "stagecoach[bot]", seal: SEAL });
  const done: Run = { ...going, phase: "Succeeded", stage: 1, endedAt: "2026-11-21T05:02:00.000Z", why: said("every stage is done") };
  await record(done, "payments #1: succeeded");
  await record(second, "payments #2: batch 2 proposed");
});

afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  await mirror.close();
  at.remove();
});

async function record(run: Run, subject: string): Promise<void> {
  await journal.read();
  await journal.record({ runs: [run], subject, trailers: { "Stagecoach-Actor": "ana" }, at: START });
}

async function view(width: number, command: (argv: string[]) => Promise<number>, ...argv: string[]): Promise<string> {
  let text = "";
  vi.useFakeTimers({ toFake: ["Date"], now: START + 30 * 60_000 });
  vi.spyOn(process.stderr, "write").mockReturnValue(true);
  vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  const { columns } = process.stdout;
  process.stdout.columns = (Number.isNaN(width) ? undefined : width) as number;
  try {
    await command([...argv, "--repo", at.checkout]);
  } finally {
    process.stdout.columns = columns;
    vi.restoreAllMocks();
    vi.useRealTimers();
  }
  return text.replace(/(?<= UTC {2})[0-9a-f]{10}\b/g, "0123456789");
}

test("the views of a terminal, at 20, 40, 80 and 160 columns", async () => {
  const views: string[] = [];
  for (const width of [20, 40, 80, 160]) {
    const shown = [
      await view(width, list),
      await view(width, get, "payments"),
      await view(width, history, "payments"),
      await view(width, history, "payments", "2"),
    ];
    for (const line of shown.join("").split("\n")) expect(textWidth(line), line).toBeLessThanOrEqual(width);
    views.push(`${width} columns\n${"─".repeat(width)}\n${shown.join("\n")}`);
  }
  await expect(`${views.join("\n\n")}\n`).toMatchFileSnapshot("__snapshots__/views.txt");
});

test("a terminal that nobody told its size says 0 columns: the views are as wide as in a file", async () => {
  for (const [command, ...argv] of [[list], [get, "payments"], [history, "payments"]] as const)
    expect(await view(0, command, ...argv)).toBe(await view(Number.NaN, command, ...argv));
});

test("whoever says where the page is, is told where it shows the run", async () => {
  await view(80, get, "payments");
  git(at.checkout, "remote", "set-url", "origin", "git@github.example:acme/config.git");
  const told = async (url: string, command: (argv: string[]) => Promise<number>, ...argv: string[]) => {
    let text = "";
    vi.stubEnv("STAGECOACH_URL", url);
    vi.spyOn(process.stdout, "write").mockReturnValue(true);
    vi.spyOn(process.stderr, "write").mockImplementation((chunk) => {
      text += String(chunk);
      return true;
    });
    await command(["payments", ...argv, "--repo", at.checkout, "--no-fetch"]).finally(() => vi.unstubAllEnvs());
    return text.split("\n").filter((line) => line.startsWith("See it live"));
  };
  const line = "See it live: https://deploy.example.com/stagecoach/r/acme/config/payments/runs/2";
  const url = "https://deploy.example.com/stagecoach/";
  expect(await told(url, get)).toEqual([line]);
  expect(await told(url, status, "2", "--watch=false")).toEqual([line]);
  expect(await told(url, wait, "1")).toEqual([line.replace(/2$/, "1")]);
  expect(await told(url, get, "-o", "json")).toEqual([]);
  expect(await told("", get)).toEqual([]);
  await expect(told("deploy.example.com", get)).rejects.toMatchObject({ exitCode: 2 });
});

test("a bot whose clock is ahead, as the demo's: ages are as of what it wrote last, and never a false 0s", async () => {
  const ahead = START + 24 * 3_600_000;
  const run = (since: number): Run => ({ ...second, since: new Date(since).toISOString() });
  await journal.read();
  await journal.record({ runs: [run(ahead - 300_000)], subject: "payments run 2: paused", trailers: {}, at: ahead });
  expect(await view(160, list)).toMatch(/Progressing +5m /);
  await journal.record({ runs: [run(ahead)], subject: "payments run 2: done", trailers: {}, at: ahead });
  expect(await view(160, list)).toMatch(/Progressing +- /);
});

test("get -w of a run that is rolled back goes on with its rollback, to the end of that", async () => {
  const aborted: Run = { ...second, phase: "Aborted", rollback: { by: "ana", reason: said("orders fail"), at: second.since } };
  await record(aborted, "payments run 2: aborted");
  const seen: string[] = [];
  await withSource({ repo: at.checkout }, async (source) => {
    for await (const { run, moved } of follow(source, { name: "payments", number: 2, andBack: true }, { pollMs: 1, fetchMs: 0 })) {
      if (run === undefined || !moved) continue;
      seen.push(`${run.number} ${run.phase}`);
      const back: Run = { ...aborted, number: 3, kind: "Rollback", of: 2, phase: "RolledBack", rollback: undefined };
      if (run.number === 2) await record(back, "payments run 3: done");
      else break;
    }
  });
  expect(seen).toEqual(["2 Aborted", "3 RolledBack"]);
});

test("no name, release or sentence steers the terminal, in whatever it is shown", async () => {
  const plan = structuredClone(second.plan);
  for (const stage of plan.stages) {
    stage.name = EVIL;
    for (const batch of stage.batches) for (const target of batch.targets) target.application = `app ${EVIL}`;
  }
  const evil: Run = {
    ...second,
    number: 3,
    plan,
    why: said(EVIL),
    release: { values: { version: EVIL }, attempt: 0 },
    trigger: { ...second.trigger, author: EVIL },
    batches: second.batches.map((batch) => ({ ...batch, why: said(EVIL) })),
    paused: { kind: "Command", by: EVIL, reason: said(EVIL), at: second.since, ask: said(EVIL) },
    phase: "Paused",
  };
  await record(evil, "payments #3: begun");
  const shown = [
    await view(80, list),
    await view(80, list, "-o", "wide"),
    await view(80, get, "payments"),
    await view(20, get, "payments"),
    await view(80, get, "payments", "-o", "wide"),
    await view(80, history, "payments"),
    await view(80, history, "payments", "-o", "wide"),
    await view(80, history, "payments", "3"),
    await view(80, status, "payments", "--watch=false"),
    await view(80, wait, "payments", "--for", "paused"),
  ];
  expect(shown.join("")).toContain("alert(1)");
  for (const text of shown)
    expect(
      [...text].filter((one) => one !== "\n" && /[\p{Cc}\u202e]/u.test(one)),
      text,
    ).toEqual([]);
});

test("a journal of a newer version says so, and hides no other rollout of it", async () => {
  await record({ ...second, rollout: "checkout", number: 1 }, "checkout #1: begun");
  const clone = join(at.directory, "newer");
  git(at.directory, "clone", "--quiet", "--branch", "stagecoach/journal", at.origin, clone);
  const file = join(clone, "runs/payments/2/run.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace("format: 2", "format: 9"));
  git(clone, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "--quiet", "-am", "newer");
  git(clone, "push", "--quiet");
  await expect(view(80, get, "payments")).rejects.toMatchObject({
    exitCode: 1,
    message: expect.stringMatching(/runs\/payments\/2\/run\.yaml .*format 9/),
  });
  const listed = await view(160, list);
  expect(listed).toMatch(/^payments +#2 .*⚠ Unreadable .*format 9.* format 2/m);
  expect(listed).toMatch(/^checkout +#1 .*◌ Progressing/m);
  expect(await view(160, history, "payments")).toMatch(/^#2 .*Unreadable/m);
});

const TMUX = (() => {
  try {
    return execFileSync("tmux", ["-V"], { encoding: "utf8" }).trim();
  } catch {
    return undefined;
  }
})();

test.skipIf(TMUX === undefined)("get -w in tmux: in place, at 80 columns, at 20, and what it ended with stays (needs tmux)", async () => {
  const tmux = (...args: string[]) => execFileSync("tmux", ["-L", `views-${process.pid}`, ...args], { encoding: "utf8" });
  const main = new URL("../main.ts", import.meta.url).pathname;
  const command = `${process.execPath} ${main} get payments -w --repo ${at.checkout}; echo "exit $?"; sleep 60`;
  const screen = () => tmux("capture-pane", "-p", "-t", "0");
  // What the pane writes comes here as well: each time something was written the screen is another.
  const pipe = join(at.directory, "pane");
  execFileSync("mkfifo", [pipe]);
  const start = join(at.directory, "start");
  execFileSync("mkfifo", [start]);
  tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", `read line < ${start}; ${command}`);
  tmux("pipe-pane", "-t", "0", `cat > ${pipe}`);
  const written = createReadStream(pipe);
  const until = async (what: () => boolean) => {
    while (!what()) await once(written, "data");
  };
  try {
    writeFileSync(start, "\n");
    await until(() => screen().includes("batch 2 of 3 waits"));
    expect(tmux("display-message", "-p", "-t", "0", "#{alternate_on}").trim()).toBe("1");
    expect(screen().split("\n").filter(Boolean).at(-1)).toMatch(/^as of .* · Ctrl-C leaves$/);
    tmux("resize-window", "-t", "0", "-x", "20", "-y", "24");
    await until(() => /^Why: batch 2 of 3/m.test(screen()));
    expect(
      screen()
        .split("\n")
        .every((line) => line.length <= 20),
    ).toBe(true);
    tmux("resize-window", "-t", "0", "-x", "80", "-y", "24");
    await record({ ...second, phase: "Succeeded", stage: 1, why: said("every stage is done now") }, "payments #2: succeeded");
    git(at.checkout, "fetch", "--quiet", "origin", "+refs/heads/stagecoach/journal:refs/remotes/origin/stagecoach/journal");
    await until(() => screen().includes("exit 0"));
    expect(tmux("display-message", "-p", "-t", "0", "#{alternate_on}").trim()).toBe("0");
    expect(screen()).toContain("every stage is done now");
    expect(screen()).not.toContain(ESC);
  } finally {
    written.destroy();
    tmux("kill-server");
  }
});
