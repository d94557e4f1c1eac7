import { expect, test } from "vitest";
import type { Edit } from "../../core/plan/plan-types.ts";
import type { PinPart, Rollout } from "../../core/spec/rollout.ts";
import { imagesDiffer } from "./pin-warnings.ts";

/** Which images one pin is said to be of, in Applications whose first image is each of these. */
function told(images: Record<string, string>, part: PinPart | undefined = "tag"): string[] | undefined {
  const texts = Object.entries(images).map(([name, image]): [string, string] => [`${name}.yaml`, `images:\n  - "${image}"\n`]);
  const files = { paths: () => texts.map(([path]) => path), read: (path: string) => new Map(texts).get(path) ?? null };
  const edit = (name: string): Edit => ({ kind: "value", file: `${name}.yaml`, path: "images[0]", from: "v1", to: "v2" });
  const rollout = { pins: [{ kind: "value", file: "f", path: "images[0]", part, create: false, value: "" }] } as unknown as Rollout;
  const [first] = imagesDiffer(rollout, new Map(Object.keys(images).map((name) => [name, [edit(name)]])), files);
  const { images: named } = (first ?? {}) as { images?: { image: string; application: string }[] };
  return named?.map(({ image, application }) => `${image} in ${application}`);
}

test("a place in a list where another Application has another image is told, with both", () => {
  const images = { "shop-dev": "ghcr.io/acme/shop:v1", "shop-prod": "ghcr.io/acme/proxy:v1.0.0" };
  expect(told(images)).toEqual(["ghcr.io/acme/shop in shop-dev", "ghcr.io/acme/proxy in shop-prod"]);
  expect(told(images, "digest")).toHaveLength(2);
});

test.each([
  ["registries and folders that differ", { a: "ghcr.io/dev/shop:v1", b: "localhost:5000/shop:v2", c: "shop@sha256:0a" }],
  ["an image that Kustomize names anew", { a: "shop=ghcr.io/acme/shop-of-dev:v1", b: "ghcr.io/acme/shop:v1" }],
  ["one Application alone", { a: "shop:v1" }],
  ["a file that is not to be read", { a: "", b: "shop:v1" }],
])("nothing is said of %s", (_, images) => expect(told(images as Record<string, string>)).toBeUndefined());

test("nothing is said of a pin that writes the whole reference, name and all", () => {
  expect(told({ a: "shop:v1", b: "proxy:v1" }, "ref")).toBeUndefined();
});
