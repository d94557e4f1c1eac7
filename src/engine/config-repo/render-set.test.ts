import { expect, test } from "vitest";
import { renderOnce } from "./render-set.ts";

const set = (generator: object) => ({
  kind: "ApplicationSet",
  spec: {
    goTemplate: true,
    generators: [generator],
    template: { metadata: { name: "shop-{{.name}}" }, spec: { destination: { name: "{{.name}}" } } },
  },
});
const clusters = (...names: string[]) => names.map((name) => ({ name, server: `https://${name}`, labels: {}, annotations: {} }));
const names = ({ applications }: ReturnType<typeof renderOnce>) => applications.map(({ metadata }) => metadata.name);

test("a set of a list is rendered once; one that reads clusters is rendered anew over others", () => {
  const list = set({ list: { elements: [{ name: "eu" }] } });
  expect(renderOnce(list, { clusters: [] })).toBe(renderOnce(list, { clusters: clusters("us") }));
  const all = set({ clusters: { selector: { matchExpressions: [{ key: "gone", operator: "DoesNotExist" }] } } });
  expect(names(renderOnce(all, { clusters: clusters("eu") }))).toEqual(["shop-eu"]);
  expect(names(renderOnce(all, { clusters: clusters("us") }))).toEqual(["shop-us"]);
});
