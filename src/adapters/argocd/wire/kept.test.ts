import { expect, test } from "vitest";
import { iso } from "../../../core/base/time.ts";
import { createKept } from "./kept.ts";
import type { Versioned } from "./source.ts";

type View = Versioned & { said: string };
const view = (version: number, said: string, over: Partial<View> = {}): View => ({
  uid: "u",
  resourceVersion: String(version),
  said,
  ...over,
});
const kept = () => {
  const all = createKept<View>();
  all.replace(new Map([["a", view(5, "listed")]]));
  return { ...all, said: () => all.items().get("a")?.said, asked: () => all.items().get("a")?.askedAt };
};

test("a list that lags behind a read by name does not take its place", () => {
  const all = kept();
  expect(all.offer("a", view(9, "by name"), 1000)).toBe(true);
  expect(all.replace(new Map([["a", view(7, "lagging")]]))).toEqual([]);
  expect([all.said(), all.asked()]).toEqual(["by name", iso(1000)]);
});

test("an older change that comes late does not, either; a newer one does, and is no less sure", () => {
  const all = kept();
  all.offer("a", view(9, "by name"), 1000);
  expect(all.put("a", view(8, "late"))).toBe(false);
  expect(all.put("a", view(10, "newer"))).toBe(true);
  expect([all.said(), all.asked()]).toEqual(["newer", iso(1000)]);
});

test("the same version read again is asked for later, never earlier", () => {
  const all = kept();
  all.offer("a", view(5, "again"), 2000);
  all.offer("a", view(5, "slow answer"), 1000);
  expect(all.asked()).toBe(iso(2000));
});

test("an answer of before it went does not bring it back, nor does one of another object", () => {
  const all = kept();
  all.remove("a");
  expect(all.offer("a", view(9, "dead"), 1000)).toBe(false);
  expect(all.said()).toBeUndefined();
  all.put("a", view(20, "made anew", { uid: "v" }));
  expect(all.offer("a", view(9, "dead"), 1000)).toBe(false);
  expect([all.said(), all.asked()]).toEqual(["made anew", undefined]);
});

test("one made anew was not asked for, and an answer that it is gone does not remove what was told since", () => {
  const all = kept();
  all.offer("a", view(6, "by name"), 1000);
  all.put("a", view(20, "made anew", { uid: "v", readAt: iso(3000) }));
  expect(all.asked()).toBeUndefined();
  expect(all.offer("a", undefined, 2000)).toBe(false);
  expect(all.offer("a", undefined, 4000)).toBe(true);
  expect(all.said()).toBeUndefined();
});

test("after the API server was restored its older versions are what there is, and no answer of before makes them sure", () => {
  const all = kept();
  all.replace(new Map([["a", view(900, "lost since", { readAt: iso(1000) })]]));
  all.replace(new Map([["a", view(500, "restored", { readAt: iso(2000) })]]));
  expect([all.said(), all.asked()]).toEqual(["restored", undefined]);
  all.offer("a", view(950, "by name, then lost", { readAt: iso(3000) }), 3000);
  all.replace(new Map([["a", view(510, "restored again", { readAt: iso(4000) })]]));
  expect(all.said()).toBe("by name, then lost");
  all.replace(new Map([["a", view(510, "restored again", { readAt: iso(64_000) })]]));
  expect([all.said(), all.asked()]).toEqual(["restored again", undefined]);
});

test("a read by name that was asked for later tells what there is, though its version is older; one under way does not", () => {
  const all = kept();
  all.put("a", view(900, "lost since", { readAt: iso(1000) }));
  expect(all.offer("a", view(500, "asked before", { readAt: iso(1001) }), 999)).toBe(false);
  expect(all.offer("a", view(500, "restored", { readAt: iso(2001) }), 2000)).toBe(true);
  expect([all.said(), all.asked()]).toEqual(["restored", iso(2000)]);
});
