import { describe, expect, test } from "vitest";
import { batchTarget, sampleRun } from "../../../../test/support/sample-run.ts";
import { said } from "../../reasons/run.ts";
import type { Run } from "../../run/state/run.ts";
import { gateWords, notOurs } from "../batch/gate-check.ts";
import { COMMENT_ROOM } from "../fit.ts";
import { closingSummary } from "./closing-summary.ts";
import { pauseNotice } from "./pause-notice.ts";
import { runComment } from "./run-comment.ts";
import { stageDeployments } from "./stage-deployment.ts";

const NOW = Date.parse("2026-11-21T09:04:00.000Z");
const END = "2026-11-21T10:30:00.000Z";

function endedRun() {
  const run = sampleRun();
  const command = {
    id: "1#0",
    text: "/promote",
    actor: "bob",
    at: "2026-11-21T09:20:00.000Z",
    outcome: "done" as const,
    message: said("ok"),
  };
  return sampleRun({
    phase: "Failed",
    endedAt: END,
    stage: 2,
    why: said("every stage is done; 1 cluster failed: us-1"),
    next: null,
    batches: run.batches.map((batch, index) => ({
      ...batch,
      phase: "Settled" as const,
      settledAt: index === 0 ? "2026-11-21T09:00:00.000Z" : END,
      targets: index === 0 ? batch.targets : [batchTarget("us-1", "Failed"), batchTarget("us-2", "Baked")],
    })),
    commands: [command],
    skipped: [{ cluster: "hub/us-3", why: said("@bob left it out"), at: "2026-11-21T09:10:00.000Z" }],
    requeued: [],
  });
}

describe("a run's closing summary", () => {
  test("a merge comes after what let it be merged, though GitHub rounds its moment down to the second", () => {
    const run = endedRun();
    const [first] = run.batches;
    if (first === undefined) throw new Error("the sample has a batch");
    const merged = { ...first.merged, commit: "c".repeat(40), at: "2026-11-21T09:20:05Z", by: "alice" };
    const resumed = { ...run.commands[0], id: "2#0", text: "/resume", at: "2026-11-21T09:20:05.400Z", outcome: "done" as const };
    const summary = closingSummary({ ...run, batches: [{ ...first, merged }], commands: [{ ...run.commands[0], ...resumed }] } as Run);
    expect(summary.indexOf("/resume")).toBeGreaterThan(0);
    expect(summary.indexOf("/resume")).toBeLessThan(summary.indexOf("merged #11"));
  });

  test("says what happened, where, how long each stage took, and who did what", () => {
    expect(closingSummary(endedRun())).toMatchInlineSnapshot(`
      "### ❌ payments #​42 Failed: v1.4.2

      Every stage is done; 1 cluster failed: us-1.

      **3 of 5 clusters** are healthy at the release. It took **1h40m**, from 08:50:00 UTC to 10:30:00 UTC.

      Nothing moves any more. \`/retry\` tries the failed clusters again and goes on from there; \`/rollback\` puts the moved clusters back, in reverse order; the next release starts a new run.

      | stage | batches | clusters healthy | took | merged |
      | --- | --- | --- | --- | --- |
      | canary | 1/1 | 2/2 | 0s | #11 |
      | everywhere else | 1/2 | 1/3 | 1h30m | #12 |

      **Not at the release:**

      - \`us-1\` failed: us-1 is failed.
      - \`us-3\` was left out: @​bob left it out.

      <details><summary>Who did what</summary>

      | when | what |
      | --- | --- |
      | 09:00:00 UTC | @​alice merged the release (#10) |
      | 09:20:00 UTC | @​bob: /promote |

      </details>

      <sub>plan \`5b6c1f0e9a7d\`</sub>"
    `);
  });

  test("is bounded, whatever the fleet", () => {
    const run = endedRun();
    const targets = Array.from({ length: 5000 }, (_, index) => batchTarget(`cluster-${index}`, "Failed"));
    const text = closingSummary({ ...run, batches: run.batches.map((batch) => ({ ...batch, targets })) });
    expect(text.length).toBeLessThanOrEqual(COMMENT_ROOM);
    expect(text).toContain("and 9951 more");
  });

  test("of hundreds of stages is summarised, and ends where it should", () => {
    const run = endedRun();
    const skipped = Array.from({ length: 100 }, (_, index) => ({ cluster: `hub/c-${index}`, why: said("|".repeat(500)), at: END }));
    const joined = skipped.map(({ cluster }) => ({ cluster, stage: 0, targets: [], at: END }));
    const text = closingSummary(manyStages({ ...run, skipped, joined }));
    expectWhole(text);
    expect(text).toContain("and 240 more stages");
    expect(text).toContain("stagecoach get payments 42");
  });

  test("says what can be done where the run did not get to its end", () => {
    const run = endedRun();
    expect(closingSummary({ ...run, phase: "Aborted" })).toContain("`/rollback` puts it back");
    expect(closingSummary({ ...run, of: 41 })).not.toContain("/rollback");
    expect(closingSummary({ ...run, phase: "Succeeded" })).not.toContain("Nothing moves");
  });

  test("of a run that is being rolled back does not ask for that again", () => {
    const asked = { by: "bob", at: END, reason: { code: "ROLLED_BACK_BY" as const, by: "bob" } };
    for (const phase of ["Aborted", "Failed"] as const) {
      const text = closingSummary({ ...endedRun(), phase, rollback: asked });
      expect(text).toContain("is put back now");
      expect(text).not.toMatch(/Nothing moves|`\/rollback`/);
    }
  });

  test("names the run by a number that GitHub does not link to the issue of that number", () => {
    expect(closingSummary(endedRun()).split("\n")[0]).toMatch(/payments #\u200b42 /);
  });
});

test("a pause that asks for a person says why and what to do, and notifies nobody by name", () => {
  const paused = {
    kind: "Refused" as const,
    by: "GitHub",
    reason: said("GitHub refuses to merge #12: @alice must `approve`"),
    at: "2026-11-21T09:00:00.000Z",
    ask: said("change what it names, then `/resume`; or `/abort`"),
  };
  expect(pauseNotice(sampleRun({ phase: "Paused", paused }), Date.parse("2026-11-21T09:04:00.000Z"))).toMatchInlineSnapshot(`
    "### ⏸️ payments #​42 waits for a person

    GitHub refuses to merge \\#12: @​alice must \\\`approve\\\`.

    **Your turn:** Change what it names, then \`/resume\`; or \`/abort\`.

    **The way back:** \`/rollback\` (needs maintain) puts 4 clusters back to what each had, by pull requests in reverse order."
  `);
});

/** 300 stages, with names as long as they may be. */
function manyStages(run: Run): Run {
  const [stage] = run.plan.stages;
  if (stage === undefined) return run;
  const stages = Array.from({ length: 300 }, (_, index) => ({ ...stage, name: `${index} ${"|".repeat(250)}` }));
  return { ...run, plan: { ...run.plan, stages } };
}

function expectWhole(text: string): void {
  expect(text.length).toBeLessThanOrEqual(COMMENT_ROOM);
  expect(text.match(/<details>/g)?.length).toBe(text.match(/<\/details>/g)?.length);
  for (const line of text.split("\n")) if (line.startsWith("|")) expect(line.endsWith("|")).toBe(true);
  expect(text.endsWith("</sub>")).toBe(true);
}

describe("the live page", () => {
  test("of hundreds of stages, with a thousand clusters put off, is summarised around where the run is", () => {
    const run = sampleRun();
    const [item] = run.requeued;
    if (item === undefined) throw new Error("the sample has a requeued cluster");
    const requeued = Array.from({ length: 1000 }, (_, index) => ({ ...item, cluster: `hub/us-${index}`, why: said("|".repeat(600)) }));
    const remarks = Array.from({ length: 10 }, () => said("|".repeat(1000)));
    const text = runComment({ ...manyStages(run), stage: 150, requeued }, NOW, remarks);
    expectWhole(text);
    expect(text).toContain("240 more stages are not shown");
    expect(text).toMatch(/^- and 97\d more$/m);
    expect(text).toMatch(/^\| 150 /m);
  });

  test("of a run that has ended reads the same whenever it is written again", () => {
    const run = endedRun();
    expect(runComment(run, NOW)).toBe(runComment(run, NOW + 86_400_000));
    expect(runComment(run, NOW)).toContain("**Failed** at 2026-11-21 10:30:00 UTC");
  });

  test("carries remarks, made harmless", () => {
    const text = runComment(sampleRun(), NOW, [said("the team `sre` | @all could not be asked")]);
    expect(text).toContain("> [!NOTE]\n> the team `sre` \\| @\u200ball could not be asked");
  });
});

describe("the gate's check run", () => {
  test("says why it waits, what comes next and what the batch before proved", () => {
    const run = sampleRun();
    const batch = run.batches[1] ?? expect.fail();
    const state = {
      kind: "waiting" as const,
      why: said("#12 is open; waiting for | us-1"),
      next: { what: said("judged again"), deadline: END },
    };
    expect(gateWords(run, batch, state, NOW)).toMatchInlineSnapshot(`
      {
        "status": "in_progress",
        "summary": "Stage **everywhere else**, 2 of 2; batch 1 of 2. Run **payments #​42**, release \`v1.4.2\` (#10).

      **Next:** judged again, at the latest 10:30:00 UTC.

      <details><summary>Why now: batch 1 of 1 of canary is healthy since 09:00:00 UTC</summary>

      | cluster | state | what Argo CD shows | read at |
      | --- | --- | --- | --- |
      | \`eu-1\` | Healthy | Live at 1f2e3d4 and healthy. | 09:00:00 UTC |
      | \`eu-2\` | Healthy | Live at 1f2e3d4 and healthy. | 09:00:00 UTC |

      </details>",
        "title": "#12 is open; waiting for | us-1",
        "told": {
          "says": "judged again",
          "times": [
            "2026-11-21T10:30:00.000Z",
          ],
        },
      }
    `);
  });

  test("fails while the run is paused, and is green on a PR that is not ours", () => {
    const run = sampleRun();
    const batch = run.batches[1] ?? expect.fail();
    const fenced = gateWords(
      run,
      batch,
      { kind: "fenced", why: said("@bob paused the run"), next: { what: said("`/resume` goes on") } },
      NOW,
    );
    expect(fenced).toMatchObject({ status: "completed", conclusion: "failure", title: "must not be merged now: @bob paused the run" });
    expect(notOurs()).toMatchObject({ status: "completed", conclusion: "success", title: "no batch of a run" });
  });
});

test("each stage that has begun is one deployment, whose status follows the stage", () => {
  const [canary, rest] = stageDeployments(sampleRun());
  expect([canary?.environment, canary?.state, rest?.state]).toEqual(["payments/canary", "success", "in_progress"]);
  expect(canary).toMatchObject({ task: "payments #42", ref: expect.stringMatching(/^[0-9a-f]{7,40}$/) });
  expect(stageDeployments(endedRun()).map(({ state }) => state)).toEqual(["success", "success"]);
  const failure = { kind: "Failure" as const, by: "stagecoach", reason: said("us-1 failed"), at: END, ask: said("`/retry`") };
  const paused = { ...endedRun(), stage: 1, phase: "Paused" as const, paused: failure };
  expect(stageDeployments(paused).map(({ state }) => state)).toEqual(["success", "failure"]);
});
