import { describe, expect, test } from "vitest";
import { formatSelector, matches, type Selector } from "./selector.ts";

const eu = { name: "eu-1", server: "https://eu-1", labels: { region: "eu", tier: "1" } };

function of(key: string, operator: "In" | "NotIn" | "Exists" | "DoesNotExist", values: string[] = []): Selector {
  return { matchLabels: {}, matchExpressions: [{ key, operator, values }] };
}

describe("a selector, as Kubernetes reads it", () => {
  test.each<[string, Selector, boolean]>([
    ["an empty one matches everything", { matchLabels: {}, matchExpressions: [] }, true],
    ["a label with its value", { matchLabels: { region: "eu" }, matchExpressions: [] }, true],
    ["every label must match", { matchLabels: { region: "eu", tier: "2" }, matchExpressions: [] }, false],
    ["In one of the values", of("region", "In", ["us", "eu"]), true],
    ["In of an absent label does not hold", of("zone", "In", ["a"]), false],
    ["NotIn of an absent label holds", of("zone", "NotIn", ["a"]), true],
    ["NotIn of its value does not", of("region", "NotIn", ["eu"]), false],
    ["Exists", of("tier", "Exists"), true],
    ["DoesNotExist", of("tier", "DoesNotExist"), false],
    ["name stands for the cluster's", of("name", "In", ["eu-1"]), true],
    ["server too", of("server", "In", ["https://eu-1"]), true],
    ["a key that every object has is no label", of("toString", "Exists"), false],
  ])("%s", (_name, selector, expected) => {
    expect(matches(selector, eu)).toBe(expected);
  });

  test("a label called name goes before the cluster's name", () => {
    expect(matches(of("name", "In", ["x"]), { ...eu, labels: { name: "x" } })).toBe(true);
  });

  test("is shown as kubectl takes it", () => {
    const selector: Selector = {
      matchLabels: { a: "b" },
      matchExpressions: [
        ...of("c", "In", ["d", "e"]).matchExpressions,
        ...of("f", "DoesNotExist").matchExpressions,
        ...of("g", "Exists").matchExpressions,
      ],
    };
    expect(formatSelector(selector)).toBe("a=b,c in (d,e),!f,g");
  });
});
