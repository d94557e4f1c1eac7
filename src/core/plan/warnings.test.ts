import { expect, test } from "vitest";
import type { Selector } from "../base/selector.ts";
import { stagesInBoth } from "./warnings.ts";

const matching = (matchLabels: Record<string, string>): Selector => ({ matchLabels, matchExpressions: [] });
const within = (key: string, ...values: string[]): Selector => ({ matchLabels: {}, matchExpressions: [{ key, operator: "In", values }] });

test("thousands of stages are not held against each other without end", () => {
  let looks = 0;
  const labels = new Proxy({} as Record<string, string>, {
    getOwnPropertyDescriptor: (_, key) => {
      looks++;
      return { configurable: true, enumerable: true, value: key === "a" ? "dev" : undefined };
    },
    get: (_, key) => (key === "a" ? "dev" : undefined),
  });
  const items = Array.from({ length: 500 }, (_, i) => ({ name: `app-${i}`, labels }));
  const stages = Array.from({ length: 600 }, (_, i) => ({ name: `s${i}`, selector: matching(i % 2 === 0 ? { a: "dev" } : { b: "prod" }) }));
  expect(stagesInBoth({ stages } as never, items)).toEqual([]);
  expect(looks).toBeLessThan(1_000_000);
});

test("an Application that labels put into two environments is told, with both stages; a canary, a pilot or the rest are none", () => {
  const item = (name: string, labels: Record<string, string>) => ({ name, labels });
  const items = [
    item("shop-eu", { env: "dev", tier: "prod", pilot: "true", region: "eu" }),
    item("shop-us", { tier: "prod", region: "us" }),
  ];
  const told = (...selectors: Selector[]) =>
    stagesInBoth({ stages: selectors.map((selector, i) => ({ name: `s${i}`, selector })) as never }, items);
  const both = [{ stages: ["s0", "s1"], names: ["shop-eu"] }];
  expect(told(matching({ env: "dev" }), matching({ tier: "prod" }))).toEqual(both);
  expect(told(within("tier", "production", "prod"), within("name", "shop-dev", "shop-eu"))).toEqual([]);
  expect(told(within("tier", "production", "prod"), matching({ env: "dev" }))).toEqual(both);
  for (const first of [{ pilot: "true" }, { tier: "canary" }, { region: "eu" }, { tier: "prod" }])
    expect(told(matching(first), matching({ tier: "prod" }), matching({}))).toEqual([]);
});
