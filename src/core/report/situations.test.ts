/** What every surface shows in each situation, one file a surface: read them as somebody who is woken by one. */
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { type GateState, gateOf } from "../run/gates/gate-state.ts";
import type { Batch, Run } from "../run/state/run.ts";
import { batchBody } from "./batch/batch-pull.ts";
import { gateWords } from "./batch/gate-check.ts";
import { refusedModel } from "./model/refused.ts";
import { listedRun, rolloutList, runDocument } from "./model/run-document.ts";
import { modelOf } from "./model/run-model.ts";
import { rolloutListSchema, runSchema } from "./model/schema/run.ts";
import { planCheck } from "./plan/plan-check.ts";
import { problemsComment } from "./plan/plan-comment.ts";
import { refusedText } from "./refused.ts";
import { closingSummary } from "./run/closing-summary.ts";
import { pauseNotice } from "./run/pause-notice.ts";
import { runComment } from "./run/run-comment.ts";
import { REFUSED_RELEASE, SITUATIONS } from "./testing/situations.ts";
import { renderTree } from "./tree/tree.ts";

const linkTo = (key: string) => `https://argocd.example.com/applications/${key.slice(4)}`;
const names = Object.keys(SITUATIONS);

const { problems: REFUSED } = REFUSED_RELEASE;
const TIME = expect.stringMatching(/^2026-01-05T\d\d:\d\d:\d\d\.\d{3}Z$/);
const NO_PULL = "– (no batch has been opened)";

function pages(draw: (name: string) => string, refused: string): string {
  const page = (name: string, text: string) => `${"=".repeat(20)} ${name}\n\n${text.trim()}\n`;
  const all = names.map((name) => page(name, draw(name)));
  return [...all.slice(0, 5), page("refused before it began", refused), ...all.slice(5)].join("\n");
}

function situation(name: string) {
  const made = SITUATIONS[name]?.();
  if (made === undefined) throw new Error(`no situation "${name}"`);
  return made;
}

/** Of a batch that has merged the check says so once, and nothing after. */
function checkOf(run: Run, batch: Batch): GateState {
  return batch.merged === undefined ? gateOf(run, batch, false) : { kind: "merged", why: batch.why, next: batch.next };
}

describe("in every situation", () => {
  test("the comment on the release PR", async () => {
    const text = pages(
      (name) => {
        const { run, now } = situation(name);
        return runComment(run, now, [], { linkTo });
      },
      problemsComment(REFUSED, { merged: true }),
    );
    await expect(text).toMatchFileSnapshot("__snapshots__/situations/comment.md");
  });

  test("the comment that notifies, where one is written", async () => {
    const text = pages(
      (name) => {
        const { run, now } = situation(name);
        return run.endedAt !== undefined
          ? closingSummary(run)
          : run.paused === undefined || run.paused.kind === "Command"
            ? "–"
            : pauseNotice(run, now, linkTo);
      },
      problemsComment(REFUSED, { merged: true }),
    );
    await expect(text).toMatchFileSnapshot("__snapshots__/situations/notice.md");
  });

  test("the check", async () => {
    const text = pages(
      (name) => {
        const { run, now } = situation(name);
        const batch = run.batches.at(-1);
        if (batch === undefined) return "–";
        const { title, summary } = gateWords(run, batch, checkOf(run, batch), now, { linkTo });
        return `${title}\n\n${summary}`;
      },
      ((check) => `${check.title}\n\n${check.summary}`)(planCheck({ plans: [], problems: REFUSED, against: [], fails: false, notes: [] })),
    );
    await expect(text).toMatchFileSnapshot("__snapshots__/situations/check.md");
  });

  test("the pull request of the batch, in at most 40 lines", async () => {
    const bodies = names.map((name) => {
      const { run, now } = situation(name);
      const batch = run.batches.at(-1);
      return batch === undefined ? "–" : batchBody(run, batch, now);
    });
    for (const body of bodies) expect(body.split("\n").length, body).toBeLessThanOrEqual(40);
    await expect(pages((name) => bodies[names.indexOf(name)] ?? "", NO_PULL)).toMatchFileSnapshot("__snapshots__/situations/pull.md");
  });

  test.each([80, 160])("the terminal of %i columns", async (width) => {
    const text = pages(
      (name) => {
        const { run, now } = situation(name);
        return renderTree(run, now, { color: false, width });
      },
      refusedText(refusedModel(REFUSED_RELEASE), width),
    );
    for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(width);
    await expect(text).toMatchFileSnapshot(`__snapshots__/situations/terminal-${width}.txt`);
  });

  test("no page says the reason of a failure or of a lost control plane twice", () => {
    const said = { failed: "0 of 3 pods are ready", "control plane lost": "ECONNREFUSED" };
    for (const [name, words] of Object.entries(said)) {
      const { run, now } = situation(name);
      const drawn = [
        runComment(run, now, [], { linkTo }),
        pauseNotice(run, now, linkTo),
        renderTree(run, now, { color: false, width: 400 }),
      ];
      // The tree is read by itself, line by line: what stands above it stands at its Application as well.
      const head = (text: string) => text.split("\nNAME ")[0] ?? "";
      for (const text of drawn) expect(head(text).split(words).length - 1, text).toBeLessThanOrEqual(1);
    }
  });

  test("a node has each field of the model in the situation that calls for it", () => {
    const of = (name: string) => modelOf(situation(name).run, situation(name).now, { linkTo });
    const batchOf = (name: string) => of(name).children.flatMap(({ children }) => children)[0];
    const [running, shut, failed, lost] = ["running", "window shut", "failed", "control plane lost"].map(of);
    expect(running).toMatchObject({ state: "Progressing", reason: { code: expect.any(String) }, subject: expect.any(String) });
    expect(running).toMatchObject({ since: TIME, waitsFor: { reason: { code: "NEXT_CONFIRMED_OR_FAILED" } }, deadline: TIME });
    expect(running).toMatchObject({ links: [{ name: "#1", url: expect.stringMatching(/\/pull\/1$/) }], counts: { clusters: 4 } });
    expect(batchOf("baking")).toMatchObject({ eta: { p50: TIME, p90: TIME }, checking: expect.stringContaining("baking until") });
    expect(shut?.waitsFor).toMatchObject({ reason: { code: "NEXT_WINDOW" }, at: "2026-01-05T14:00:00.000Z" });
    expect(batchOf("waiting for approval")?.gates?.map(({ kind }) => kind)).toEqual(["approval", "health", "bake"]);
    expect(failed).toMatchObject({
      cause: { kind: "application", link: expect.stringMatching(/app-c3$/) },
      ask: { says: expect.any(String) },
    });
    expect(failed?.actions).toContainEqual(expect.objectContaining({ verb: "retry", args: [], needs: "write", allowed: true }));
    expect(lost?.controlPlanes).toMatchObject([{ name: "hub", state: "Unseen", since: TIME, reason: { code: expect.any(String) } }]);
    expect(of("paused by a person")).toMatchObject({ pause: { kind: "Command", by: "alice" }, waitsFor: undefined });
    expect(of("done")).toMatchObject({ state: "Succeeded", endedAt: TIME, counts: { healthy: 4 } });
  });

  test("nothing that the model says is Markdown: each surface marks up what it draws", () => {
    const marked: string[] = [];
    const look = (value: unknown, path: string): void => {
      if (typeof value === "string" && /`|\*\*|\]\(|<\/?[a-z]+>|&[a-z]+;|\\[*_#@]|\u200b/.test(value)) marked.push(`${path}: ${value}`);
      if (typeof value !== "object" || value === null) return;
      for (const [key, inner] of Object.entries(value)) look(inner, `${path}.${key}`);
    };
    for (const name of names) look(modelOf(situation(name).run, situation(name).now, { linkTo }), name);
    look(refusedModel(REFUSED_RELEASE), "refused");
    expect(marked).toEqual([]);
  });

  test("a run is the document that the schema says: nothing is left out, and nothing is besides", () => {
    for (const name of names) {
      const { run, now } = situation(name);
      const document: unknown = JSON.parse(
        JSON.stringify(runDocument(modelOf(run, now, { linkTo }), now, { refused: refusedModel(REFUSED_RELEASE) })),
      );
      // What the schema does not have, parsing leaves out.
      expect(runSchema.parse(document), name).toEqual(document);
    }
    const runs = names.map((name) => listedRun(modelOf(situation(name).run, situation(name).now)));
    const items = runs.map((one) => ({ rollout: one.rollout, state: one.state, says: one.says, release: one.release, run: one }));
    const rollouts: unknown = JSON.parse(JSON.stringify(rolloutList(items, 0)));
    expect(rolloutListSchema.parse(rollouts)).toEqual(rollouts);
  });

  test("the JSON of the API, which the page draws", async () => {
    const all = Object.fromEntries(names.map((name) => [name, modelOf(situation(name).run, situation(name).now, { linkTo })]));
    const refused = { "refused before it began": refusedModel(REFUSED_RELEASE) };
    const text = stringify(JSON.parse(JSON.stringify({ ...all, ...refused })), { aliasDuplicateObjects: false, lineWidth: 140 });
    await expect(text).toMatchFileSnapshot("__snapshots__/situations/model.yaml");
  });
});
