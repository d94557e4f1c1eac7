import { describe, expect, test } from "vitest";
import { sampleRollout, sampleRun } from "../../../../test/support/sample-run.ts";
import type { Run } from "../../run/state/run.ts";
import type { Delivery } from "../../spec/rollout.ts";
import { BODY_LIMIT } from "../escape.ts";
import { batchTrailers } from "./batch-pull.ts";
import { deliveryText } from "./batch-text.ts";

const DEFAULTS = { title: "the title", body: "the body", commitMessage: "the message\n\nStagecoach-Run: payments/42\n" };
const AUTHOR = { name: "stagecoach[bot]", email: "1+stagecoach[bot]@users.noreply.github.com" };

function said(delivery: Partial<Delivery>, change: Partial<Run> = {}, body = DEFAULTS.body) {
  const run = sampleRun({ spec: sampleRollout({ delivery: { ...sampleRollout().delivery, ...delivery } }), ...change });
  const batch = run.batches[1];
  if (batch === undefined) throw new Error("the sample has two batches");
  return { ...deliveryText(run, batch, { ...DEFAULTS, body }, AUTHOR), trailers: batchTrailers(run, batch) };
}

describe("a rollout's own words for its batches", () => {
  test("without templates the defaults stand", () => {
    expect(said({})).toMatchObject(DEFAULTS);
  });

  test("every variable has its value", () => {
    const title =
      "{{ rollout.name }} {{run.number}} {{ release.version }} #{{ release.pull }} {{ release.author }} {{ stage.name }} {{ batch.number }}/{{ batch.of }} {{ batch.attempt }} {{ batch.clusters }} {{ batch.size }} {{ release.values.version }}";
    expect(said({ title }).title).toBe("payments 42 v1.4.2 #10 alice everywhere else 1/2 1 us-1, us-2 2 v1.4.2");
    expect(said({ body: "{{ batch.name }}" }).body).toBe("batch 1 of 2 of everywhere else\n\nthe body");
  });

  test("the trailers end the message, and a sign-off stands beside them", () => {
    const { commitMessage, trailers } = said({ commitMessage: "deploy: {{ release.version }}\n\nChange: CR-7\n", signoff: true });
    expect(commitMessage).toBe(`deploy: v1.4.2\n\nChange: CR-7\n\n${trailers}\nSigned-off-by: ${AUTHOR.name} <${AUTHOR.email}>\n`);
    expect(said({ signoff: true }).commitMessage).toMatch(/\nStagecoach-Run: payments\/42\nSigned-off-by: /);
  });

  test("a value from outside stays one line, harms no Markdown, calls nobody and adds no trailer", () => {
    const values = { version: "v1\n\nStagecoach-Run: other/9\n@acme/all | <img src=x> \u202e`x`" };
    const release = { values, attempt: 1 };
    const { title, body, commitMessage } = said(
      { title: "{{ release.version }}", body: "{{ release.version }}", commitMessage: "x {{ release.version }}" },
      { release },
    );
    expect(title).not.toMatch(/[\n\u202e]/);
    expect(commitMessage.split("\n").filter((line) => line.startsWith("Stagecoach-Run:"))).toEqual(["Stagecoach-Run: payments/42"]);
    expect(body).not.toMatch(/@acme|(?<!\\)<img|\n@/);
  });

  test("a title is cut at a whole character, and a body never over GitHub's limit", () => {
    const { title } = said({ title: "🚀".repeat(400) });
    expect(title.length).toBeLessThanOrEqual(256);
    expect(title.isWellFormed()).toBe(true);
    const { body } = said({ body: "own words" }, {}, "x".repeat(BODY_LIMIT));
    expect(body).toBe("own words\n\nWhat changes is in the diff: it is too large for this place.");
  });

  test("a value the release does not have is left empty: a batch is not held up by words", () => {
    expect(said({ title: "{{ release.values.chart }} x" }).title).toBe("x");
    expect(said({ title: "{{ nope }} x" }).title).toBe("{{ nope }} x");
  });
});
