import { describe, expect, test } from "vitest";
import { batchTarget, sampleRun } from "../../../../test/support/sample-run.ts";
import { said } from "../../reasons/run.ts";
import { batchBody, batchCommitMessage } from "../batch/batch-pull.ts";
import { BODY_LIMIT, cell, code, prose } from "../escape.ts";
import { runComment } from "./run-comment.ts";
import { runView } from "./run-view.ts";

const NOW = Date.parse("2026-11-21T09:04:00.000Z");

function bigRun() {
  const run = sampleRun();
  const targets = Array.from({ length: 5000 }, (_, i) => batchTarget(`cluster-${i}`, "Baked"));
  return sampleRun({ batches: run.batches.map((batch, index) => (index === 0 ? { ...batch, targets } : batch)) });
}

describe("the run's comment on the release PR", () => {
  test("says what happens, why it waits and what comes next", () => {
    expect(runComment(sampleRun(), NOW)).toMatchInlineSnapshot(`
      "### 🚚 payments #42: v1.4.2

      **Progressing** for 4m: waiting for us-1, us-2 to become live (0 of 2 confirmed)

      **Next:** us-1 and us-2 count as failed, at the latest 09:15:00 UTC

      | stage | state | batches | clusters live | |
      | --- | --- | --- | --- | --- |
      | canary | done | 1/1 | 2/2 \`██████████\` |  |
      | everywhere else | in progress | 0/2 | 0/4 \`░░░░░░░░░░\` | 1 requeued |

      - #12 batch 1 of 2 of everywhere else: **Merged** for 4m, waiting for us-1, us-2 to become live (0 of 2 confirmed)
      - \`us-4\` is requeued: it matches the stage's requeue selector. It is looked at after the stage's batches.

      <details><summary>Every cluster moved so far</summary>

      | stage | PR | cluster | application | change | state | since | why |
      | --- | --- | --- | --- | --- | --- | --- | --- |
      | canary | #11 | \`eu-1\` | \`payments-eu-1\` | \`v1.4.1\` → \`v1.4.2\` | ✅ Baked | 4m | live at 1f2e3d4 and healthy |
      | canary | #11 | \`eu-2\` | \`payments-eu-2\` | \`v1.4.1\` → \`v1.4.2\` | ✅ Baked | 4m | live at 1f2e3d4 and healthy |
      | everywhere else | #12 | \`us-1\` | \`payments-us-1\` | \`v1.4.1\` → \`v1.4.2\` | 🔄 Syncing | 4m | us-1 is syncing |
      | everywhere else | #12 | \`us-2\` | \`payments-us-2\` | \`v1.4.1\` → \`v1.4.2\` | 🔀 Merged | 4m | us-2 is merged |

      </details>

      <sub>Steer with a comment: \`/promote\` \`/pause\` \`/resume\` \`/requeue CLUSTER…\` \`/skip CLUSTER…\` \`/abort\` \`/help\` · plan \`5b6c1f0e9a7d\`</sub>"
    `);
  });

  test("a paused run leads with what it asks for", () => {
    const paused = {
      kind: "Failure" as const,
      by: "stagecoach",
      reason: said("us-1 failed: Degraded"),
      at: "2026-11-21T09:00:00.000Z",
      ask: said("Comment /retry or /resume."),
    };
    const text = runComment(sampleRun({ phase: "Paused", paused }), NOW);
    expect(text).toContain("> Paused: us-1 failed: Degraded");
    expect(text).toContain("> Comment /retry or /resume.");
  });

  test("a fleet too large for GitHub's limit is summarised, not cut", () => {
    const text = runComment(bigRun(), NOW);
    expect(text.length).toBeLessThanOrEqual(BODY_LIMIT);
    expect(text).toContain("stagecoach get payments 42");
    expect(text.endsWith("</sub>")).toBe(true);
  });
});

describe("a batch's PR", () => {
  test("shows the diff as a table and the evidence of the batch before", () => {
    const run = sampleRun();
    const batch = run.batches[1];
    if (batch === undefined) throw new Error("the sample has two batches");
    expect(batchBody(run, batch, NOW)).toMatchInlineSnapshot(`
      "**\`v1.4.1\` → \`v1.4.2\`** on \`us-1\`, \`us-2\`

      Stage **everywhere else**, 2 of 2; batch 1 of 2. Run **payments #42**, release \`v1.4.2\` (#10).

      **Next:** Stagecoach merges this PR once its checks pass. Then it waits for Argo CD to show every cluster live and healthy, up to 15m from when it sees this commit, then opens batch 2 of 2.

      | cluster | application | from | to | file | pin |
      | --- | --- | --- | --- | --- | --- |
      | \`us-1\` | \`payments-us-1\` | \`v1.4.1\` | \`v1.4.2\` | \`appsets/payments.yaml\` | \`spec.generators[0].list.elements[cluster=us-1].targetRevision\` |
      | \`us-2\` | \`payments-us-2\` | \`v1.4.1\` | \`v1.4.2\` | \`appsets/payments.yaml\` | \`spec.generators[0].list.elements[cluster=us-2].targetRevision\` |

      <details><summary>What it waits for, and what opens each gate</summary>

      The check \`stagecoach/gate\` says which of these it waits for now.

      | gate | why it waits | what opens it | when |
      | --- | --- | --- | --- |
      | settings | .github/stagecoach.yaml has to be readable: it may freeze or limit | correcting it | at once |
      | halt | no halt may cover its clusters | the halt's end, or \`/halt --off\` | as said with the halt |
      | limits | room in what all runs of the repo may have in flight together, where the settings limit that | clusters of other batches being confirmed | unknown |
      | freezes | those of the repo's settings and of the server | their end | the check says when |
      | render guard | the merge may delete, rename or move no Application | rendering it on the present base | seconds |
      | GitHub's rules | required checks, reviews, and the merge queue, where the repository has them | whoever they ask | GitHub says |
      | health | every cluster has to be live at this very change and healthy | Argo CD showing it; never \`/promote\` | failed 15m after it is first seen, at the latest |

      </details>

      <details><summary>Why now: batch 1 of 1 of canary, settled 4m before this PR</summary>

      | cluster | state | why | evidence |
      | --- | --- | --- | --- |
      | \`eu-1\` | Baked | live at 1f2e3d4 and healthy | \`status.sync.revision=1f2e3d4\` |
      | \`eu-2\` | Baked | live at 1f2e3d4 and healthy | \`status.sync.revision=1f2e3d4\` |

      </details>

      <details><summary>What you can comment here</summary>

      | command | does |
      | --- | --- |
      | \`/promote\` | ends a wait; with \`merge: Manual\` merges this PR once GitHub allows it |
      | \`/pause [reason]\` | nothing merges until \`/resume\` |
      | \`/requeue CLUSTER… [--for 2h]\` | puts clusters to the stage's end |
      | \`/skip CLUSTER…\` | leaves clusters out of this run |
      | \`/abort [reason]\` | ends the run and closes this PR |

      </details>

      <sub>Please do not push to this branch: a changed head is never merged, and pauses the run.</sub>"
    `);
    expect(batchCommitMessage(run, batch)).toMatchInlineSnapshot(`
      "payments v1.4.2: us-1, us-2

      batch 1 of 2 of everywhere else

      Stagecoach-Run: payments/42
      Stagecoach-Batch: 2
      Stagecoach-Attempt: 1
      "
    `);
  });
});

describe("text from outside", () => {
  test.each([
    ["a pipe cannot end a table cell", "a|b", "a\\|b"],
    ["a mention notifies nobody", "ask @alice", "ask @\u200balice"],
    ["markup is shown as it is", "<img src=x> **b**", "\\<img src=x\\> \\*\\*b\\*\\*"],
    ["a command is not read as one", "/abort", "\u200b/abort"],
    ["lines become one", "a\nb", "a b"],
  ])("%s", (_name, input, output) => {
    expect(cell(input)).toBe(output);
  });

  test("a sentence keeps the commands it marks as code", () => {
    expect(prose("mend it and `/retry`; or `/skip eu|1`, *then* ask @bob")).toBe(
      "mend it and `/retry`; or `/skip eu\\|1`, \\*then\\* ask @\u200bbob",
    );
  });

  test("code stays code though it holds backticks", () => {
    expect(code("a`b")).toBe("`` a`b ``");
  });
});

describe("the page's view of a run", () => {
  test("every cluster of the plan is in one place, with its phase", () => {
    const view = runView(sampleRun());
    const clusters = view.stages.flatMap((stage) =>
      stage.batches.flatMap((batch) => batch.clusters.map((cluster) => `${cluster.name}:${cluster.phase}`)),
    );
    expect(clusters).toEqual(["eu-1:Baked", "eu-2:Baked", "us-1:Syncing", "us-2:Merged", "us-3:Pending", "us-4:Requeued"]);
    expect(view.counts).toEqual({ clusters: 6, live: 2, failed: 0, requeued: 1 });
  });

  test("a batch is named within its stage, and a requeued cluster waits for the stage's batches", () => {
    const run = sampleRun();
    expect(runView(run).stages.map((stage) => stage.batches[0]?.name)).toEqual(["batch 1 of 1", expect.stringMatching(/^batch 1 of \d$/)]);
    const requeued = run.requeued.map((one) => ({ ...one, attempts: 0 }));
    const next = (over: Partial<typeof run>) => runView({ ...run, requeued, ...over }).stages[1]?.batches.at(-1)?.next;
    expect(next({})).toEqual({ what: "after the stage's batches" });
    expect(next({ phase: "Aborted" })).toBeNull();
    expect(next({ requeued: run.requeued.map((one) => ({ ...one, attempts: 1 })) })).toMatchObject({ what: "the next look" });
  });

  test("a cluster of several Applications is as far as the one that is furthest behind", () => {
    const run = sampleRun();
    const second = run.batches[1];
    if (second === undefined) throw new Error("the sample has two batches");
    const extra = { ...batchTarget("us-1", "Failed"), key: "hub/argocd/other-us-1", application: "other-us-1" };
    const view = runView({ ...run, batches: [run.batches[0] ?? second, { ...second, targets: [...second.targets, extra] }] });
    const cluster = view.stages[1]?.batches[0]?.clusters[0];
    expect([cluster?.name, cluster?.phase, cluster?.applications]).toEqual(["us-1", "Failed", ["payments-us-1", "other-us-1"]]);
  });
});
