import { expect, test } from "vitest";
import { PROBLEMS } from "./problems/problems.ts";
import { RENDER_PROBLEMS } from "./render.ts";
import { REASONS, sentenceOf, TABLES, wholeSentence } from "./say.ts";

const CLUSTERS = ["hub-eu/web", "hub-us/web", "hub-us/api"];
const RUN = { plan: { stages: [{ clusters: CLUSTERS, requeued: [], batches: [], requeuedTargets: [] }] } } as unknown as NonNullable<
  Parameters<typeof sentenceOf>[1]
>;

test("each code is declared by one room: none hides another's sentence", () => {
  const codes = [...Object.values(TABLES), PROBLEMS, RENDER_PROBLEMS].flatMap((table) => Object.keys(table));
  expect(codes.filter((code, at) => codes.indexOf(code) !== at)).toEqual([]);
  expect(Object.keys(REASONS).toSorted()).toEqual(codes.toSorted());
});

test("a run calls its clusters by what tells them apart", () => {
  expect(sentenceOf({ code: "TARGETS_UNREAD", clusters: CLUSTERS }, RUN)).toContain("hub-eu/web, hub-us/web, api");
});

test("a sentence that stands by itself begins with a capital, but never a name that begins it", () => {
  expect(wholeSentence({ code: "NOT_PAUSED" })).toBe("The run is not paused.");
  expect(wholeSentence({ code: "CLUSTER_GONE", cluster: "hub-us/eu-1" })).toMatch(/^The cluster and /);
  for (const cluster of ["hub-us/api", "hub-us/api of eu"])
    expect(wholeSentence({ code: "CONFIRMED_ALREADY", cluster }, RUN)).toMatch(/^api /);
});

test("a cause that ends in a stop gets no second one", () => {
  const paused = (text: string) => ({ code: "RUN_IS_PAUSED", because: { code: "SAID", text }, ask: { code: "ASK_RESUME" } });
  for (const text of ["it is ill", "it is ill.", "it is ill (why?)"]) expect(sentenceOf(paused(text))).toMatch(/ill( \(why\?\)|\.) Next: /);
});

test.each([
  ["an unknown code", { code: "NO_SUCH_CODE", by: "eve" }],
  ["a name of every object", { code: "constructor" }],
  ["data of another shape", { code: "RETRY_DONE", clusters: 7 }],
])("of a journal that somebody changed, %s is shown as it stands", (_, reason) => {
  expect(sentenceOf(reason)).toBe(JSON.stringify(reason));
});
