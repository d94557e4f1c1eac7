import { expect, test } from "vitest";
import type { Entry } from "./entry.ts";
import { PROBLEMS } from "./problems/problems.ts";
import { RENDER_PROBLEMS } from "./render.ts";
import { namesOf, REASONS, sentenceOf } from "./say.ts";
import { samplesOf } from "./testing/reason-samples.ts";
import { sayWording } from "./wording.ts";

const codes = Object.keys(REASONS).filter((code) => !Object.hasOwn({ ...PROBLEMS, ...RENDER_PROBLEMS }, code));

/** A code in each of its ways; then what it is about, the commands that answer it, and its help. */
function page(code: string): string {
  const { says, subject = "–", actions = [], means, todo } = REASONS[code] as Entry<never>;
  const said = samplesOf(code).map((reason) => `  ${sayWording(says, reason, namesOf(undefined))}`);
  const more = [[subject, ...actions.map((action) => `/${action}`)].join(" "), means, todo];
  return [code, ...said, ...more.filter((line) => line !== undefined).map((line) => `  → ${line}`), ""].join("\n");
}

test("every reason of a run is said in each of its ways, and says what it is about", async () => {
  const text = codes.toSorted().map(page).join("\n");
  expect(text.split("\n").filter((line) => /undefined|\[object|NaN|\bnull\b/.test(line))).toEqual([]);
  await expect(text).toMatchFileSnapshot("__snapshots__/reasons.txt");
});

test("a run calls its clusters by what tells them apart", () => {
  const clusters = ["hub-eu/web", "hub-us/web", "hub-us/api"];
  const plan = { stages: [{ clusters, requeued: [], batches: [], requeuedTargets: [] }] };
  const run = { plan } as unknown as NonNullable<Parameters<typeof sentenceOf>[1]>;
  expect(sentenceOf({ code: "TARGETS_UNREAD", clusters }, run)).toBe("the state of hub-eu/web, hub-us/web, api could not be read");
});
