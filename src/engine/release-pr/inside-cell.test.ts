import { expect, test } from "vitest";
import type { ApplicationView } from "../../core/argocd/views.ts";
import { planeOf } from "./inside-cell.ts";

test("thousands of Applications are told as a list, and not asked for again one by one", () => {
  const asked: string[] = [];
  const one = { namespace: "argocd", name: "a" } as ApplicationView;
  const ask = (question: string): unknown => {
    asked.push(question);
    return question === "plane.applications" ? [one] : undefined;
  };
  const plane = planeOf(
    { name: "hub", uiUrl: undefined, labels: undefined, generates: false, reads: false, renders: false, syncs: false },
    ask,
  );
  expect(plane.applications()).toEqual([one]);
  expect(plane.application("argocd", "a")).toBe(one);
  expect(asked).toEqual(["plane.applications"]);
  // One that no list told of may be there all the same.
  expect(plane.application("argocd", "b")).toBeUndefined();
  expect(asked).toEqual(["plane.applications", "plane.application"]);
});
