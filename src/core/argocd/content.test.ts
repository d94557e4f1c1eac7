import { describe, expect, test } from "vitest";
import { isTelling, showsValues } from "./content.ts";

const object = (image: string, more: object = {}) =>
  JSON.stringify({ apiVersion: "apps/v1.4.2", kind: "Deployment", spec: { containers: [{ image }] }, ...more });

describe("objects show a version", () => {
  test.each([
    ["an image's tag", [object("ghcr.io/acme/web:v1.4.2")], ["v1.4.2"], true],
    ["a digest", [object("web@sha256:abcdef12")], ["sha256:abcdef12"], true],
    ["a chart's label", [object("web:x", { metadata: { labels: { chart: "web-1.4.2" } } })], ["1.4.2"], true],
    ["a longer version", [object("web:v1.4.21")], ["v1.4.2"], false],
    ["a prerelease of it", [object("web:v1.4.2-rc1")], ["v1.4.2"], false],
    ["a version that ends alike", [object("web:11.4.2")], ["1.4.2"], false],
    ["the version of an API alone", [object("web:v1.4.1")], ["v1.4.2"], false],
    ["two, in two objects", [object("web:v1.4.2"), object("api:v2.0.0")], ["v1.4.2", "v2.0.0"], true],
    ["one of two", [object("web:v1.4.2")], ["v1.4.2", "v2.0.0"], false],
    [
      "what was applied last",
      [object("web:v1.4.1", { note: { "kubectl.kubernetes.io/last-applied-configuration": "web:v1.4.2" } })],
      ["v1.4.2"],
      false,
    ],
    ["the end of a sentence", [object("web:x", { note: "runs v1.4.2." })], ["v1.4.2"], true],
    ["what is no JSON", ["image: web:v1.4.2"], ["v1.4.2"], true],
  ])("%s", (_name, objects, values, shown) => {
    expect(showsValues(objects, values)).toBe(shown);
  });

  test("what stands everywhere tells nothing", () => {
    expect(["v1.4.2", "2026-11-21"].map(isTelling)).toEqual([true, true]);
    expect(["2", "v1", "latest", ""].map(isTelling)).toEqual([false, false, false, false]);
  });
});
