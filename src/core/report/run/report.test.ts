import { describe, expect, test } from "vitest";
import { batchTarget, sampleRun } from "../../../../test/support/sample-run.ts";
import { said } from "../../reasons/run.ts";
import type { Run } from "../../run/state/run.ts";
import { batchBody, batchCommitMessage } from "../batch/batch-pull.ts";
import { BODY_LIMIT, cell, code, prose } from "../escape.ts";
import { runComment } from "./run-comment.ts";

const NOW = Date.parse("2026-11-21T09:04:00.000Z");

function bigRun() {
  const run = sampleRun();
  const targets = Array.from({ length: 5000 }, (_, i) => batchTarget(`cluster-${i}`, "Baked"));
  return sampleRun({ batches: run.batches.map((batch, index) => (index === 0 ? { ...batch, targets } : batch)) });
}

describe("the run's comment on the release PR", () => {
  test("says what happens, why it waits and what comes next", () => {
    expect(runComment(sampleRun(), NOW)).toMatchInlineSnapshot(`
      "### 🚚 payments #​42: v1.4.2

      **Progressing** since 2026-11-21 09:00:00 UTC. Waiting for us-1, us-2 to become live (0 of 2 confirmed).

      **Next:** us-1 and us-2 count as failed, at the latest 09:15:00 UTC.

      **Done:** about 09:04:20 UTC, as batches went so far.

      | stage | state | batches | clusters healthy | not healthy |
      | --- | --- | --- | --- | --- |
      | canary | Healthy | 1/1 | 2/2 \`██████████\` |  |
      | everywhere else | Progressing | 0/2 | 0/4 \`░░░░░░░░░░\` | 1 requeued |

      - #12 batch 1 of 2 of everywhere else: **Syncing** since 09:00:00 UTC
      - \`us-4\`: **Requeued** (tried after the stage's batches). It matches the stage's requeue selector.

      <details><summary>Every cluster moved so far</summary>

      | stage | PR | cluster | application | change | state | since | why |
      | --- | --- | --- | --- | --- | --- | --- | --- |
      | canary | #11 | \`eu-1\` | \`payments-eu-1\` | \`v1.4.1\` → \`v1.4.2\` | ✅ Healthy | 09:00:00 UTC | Live at 1f2e3d4 and healthy. |
      | canary | #11 | \`eu-2\` | \`payments-eu-2\` | \`v1.4.1\` → \`v1.4.2\` | ✅ Healthy | 09:00:00 UTC | Live at 1f2e3d4 and healthy. |
      | everywhere else | #12 | \`us-1\` | \`payments-us-1\` | \`v1.4.1\` → \`v1.4.2\` | 🔄 Syncing | 09:00:00 UTC | us-1 is syncing. |
      | everywhere else | #12 | \`us-2\` | \`payments-us-2\` | \`v1.4.1\` → \`v1.4.2\` | 🔀 Merged | 09:00:00 UTC | us-2 is merged. |

      </details>

      <sub>You can comment \`/pause\` \`/rollback\` \`/abort\` \`/requeue CLUSTER…\` \`/skip CLUSTER…\` \`/help\` · plan \`5b6c1f0e9a7d\`</sub>"
    `);
  });

  test("says whether an end is expected by its own batches or by earlier runs", () => {
    const stages = new Map(["canary", "everywhere else"].map((name) => [name, [900_000]] as const));
    const done = (run: Run) => /\*\*Done:\*\* .*/.exec(runComment(run, NOW, [], { history: { stages, totals: [] } }))?.[0];
    expect(done(sampleRun())).toMatch(/, as batches went so far\.$/);
    expect(done(sampleRun({ batches: [], stage: 0 }))).toMatch(/, as earlier runs went\.$/);
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
    expect(text).toContain("**Your turn:** Comment /retry or /resume.");
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

      Stage **everywhere else**, 2 of 2; batch 1 of 2. Run **payments #​42**, release \`v1.4.2\` (#10).

      **As planned:** Stagecoach merges this PR once its checks pass. Once Argo CD shows every cluster healthy at this change, Stagecoach opens batch 2 of 2.

      | cluster | application | from | to | file | pin |
      | --- | --- | --- | --- | --- | --- |
      | \`us-1\` | \`payments-us-1\` | \`v1.4.1\` | \`v1.4.2\` | \`appsets/payments.yaml\` | \`spec.generators[0].list.elements[cluster=us-1].targetRevision\` |
      | \`us-2\` | \`payments-us-2\` | \`v1.4.1\` | \`v1.4.2\` | \`appsets/payments.yaml\` | \`spec.generators[0].list.elements[cluster=us-2].targetRevision\` |

      <details><summary>What it waits for</summary>

      | gate | why it waits | what opens it | when |
      | --- | --- | --- | --- |
      | health | Argo CD has to show this very change, healthy, on every cluster | Argo CD alone; \`/promote\` never does | it counts as failed 15m after Argo CD first shows it |

      As every batch, it also waits while a halt, a freeze or a limit of the repository holds it, and for the checks and reviews that GitHub requires. The check \`stagecoach/gate\` says what it waits for now.

      </details>

      <details><summary>Why now: batch 1 of 1 of canary is healthy since 09:00:00 UTC</summary>

      | cluster | state | what Argo CD shows | read at |
      | --- | --- | --- | --- |
      | \`eu-1\` | Healthy | Live at 1f2e3d4 and healthy. | 09:00:00 UTC |
      | \`eu-2\` | Healthy | Live at 1f2e3d4 and healthy. | 09:00:00 UTC |

      </details>

      <sub>How the run stands, and what you can comment now: #10. A comment here counts as much as one there; \`/help\` lists them all.<br>Please do not push to this branch: Stagecoach never merges a changed head, and pauses the run.</sub>"
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
