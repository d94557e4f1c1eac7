import { describe, expect, test } from "vitest";
import { decodeSource } from "./decode/source.ts";
import { equalDestination, equalHydrator, equalSources, normalRepo, sameProject, sameValue } from "./same.ts";

test.each([
  ["https://github.com/acme/config.git", "github.com/acme/config"],
  ["https://bot:token@GitHub.com/acme/config/", "github.com/acme/config"],
  ["git@github.com:acme/config.git", "github.com/acme/config"],
  ["ssh://git@github.com:22/acme/config", "github.com/acme/config"],
  ["ssh://git@git.example.com:7999/acme/config.git", "git.example.com:7999/acme/config"],
  ["http://127.0.0.1:4321/acme/config.git", "127.0.0.1:4321/acme/config"],
  ["registry.example.com/charts", "registry.example.com/charts"],
  ["https://github.com/Acme/Config", "github.com/Acme/Config"],
])("%s is %s", (url, normal) => {
  expect(normalRepo(url)).toBe(normal);
});

describe("destinations", () => {
  const cluster = { name: "eu-1", server: "https://eu-1.example.com", labels: {}, registered: true };
  test.each([
    ["names count where both have one", { name: "a", server: "x" }, { name: "a", server: "y" }, true],
    ["a final slash does not", { server: "https://x/" }, { server: "https://x" }, true],
    ["another namespace is another place", { name: "a", namespace: "n" }, { name: "a" }, false],
    ["a name and its server are one where the cluster is known", { name: "eu-1" }, { server: "https://eu-1.example.com/" }, true],
    ["a name and another server are not", { name: "eu-1" }, { server: "https://eu-2.example.com" }, false],
  ])("%s", (_name, a, b, same) => {
    expect(equalDestination(a, b, cluster)).toBe(same);
  });
});

test("an absent field and its zero value are one, any other difference is not", () => {
  expect(sameValue({ helm: { skipCrds: false, parameters: [] } }, { helm: {} })).toBe(true);
  expect(sameValue({ helm: { parameters: [{ name: "a", value: "1" }] } }, { helm: { parameters: [{ name: "a", value: "2" }] } })).toBe(
    false,
  );
  expect(sameValue([1, 2], [2, 1])).toBe(false);
  expect(sameValue({ constructor: "x" }, {})).toBe(false);
});

test("nesting without end is never the same, and never a crash", () => {
  const deep = () => {
    let value: unknown = 1;
    for (let i = 0; i < 50_000; i++) value = [value];
    return value;
  };
  expect(sameValue(deep(), deep())).toBe(false);
});

describe("where people choose the keys an absent one is not an empty one", () => {
  test.each<[string, unknown, unknown, boolean]>([
    ["a value of false", { helm: { valuesObject: { canary: false } } }, { helm: { valuesObject: {} } }, false],
    ["a value of 0, deeper", { helm: { valuesObject: { a: { n: 0 } } } }, { helm: { valuesObject: { a: {} } } }, false],
    ["an empty list of values", { helm: { valuesObject: { a: [] } } }, { helm: { valuesObject: {} } }, false],
    ["an empty text in place of false", { helm: { valuesObject: { a: "" } } }, { helm: { valuesObject: { a: false } } }, false],
    ["values against none", { helm: { valuesObject: { a: "" } } }, { helm: {} }, false],
    ["an empty label", { kustomize: { commonLabels: { a: "" } } }, { kustomize: {} }, false],
    ["an empty annotation", { kustomize: { commonAnnotations: { a: "" } } }, { kustomize: { commonAnnotations: {} } }, false],
    [
      "a plugin's empty parameter",
      { plugin: { parameters: [{ name: "a", string: "" }] } },
      { plugin: { parameters: [{ name: "a" }] } },
      false,
    ],
    [
      "null among values, which the controller's patch takes out",
      { helm: { valuesObject: { a: null } } },
      { helm: { valuesObject: {} } },
      true,
    ],
    ["an empty map of values", { helm: { valuesObject: { a: {} } } }, { helm: {} }, true],
    ["a plugin's environment", { plugin: { env: [{ name: "a", value: "" }] } }, { plugin: { env: [{ name: "a" }] } }, true],
    ["a parameter of Helm's", { helm: { parameters: [{ name: "a", value: "" }] } }, { helm: { parameters: [{ name: "a" }] } }, true],
  ])("%s", (_name, a, b, same) => {
    expect([sameValue(a, b), sameValue(b, a)]).toEqual([same, same]);
  });
});

describe("what Argo CD takes out of a source is no difference between what is rendered and what lives", () => {
  const at = { repoURL: "https://x/a", path: "a" };
  test.each<[string, object, boolean]>([
    ["a directory that does not recurse", { directory: { recurse: false } }, true],
    ["a directory with empty Jsonnet", { directory: { recurse: false, jsonnet: { libs: [] } } }, true],
    ["an empty list of images", { kustomize: { images: [] } }, true],
    ["what Argo CD does not look at in an empty kustomize", { kustomize: { forceCommonLabels: true } }, true],
    ["an empty helm", { helm: {} }, true],
    ["zero values of helm", { helm: { releaseName: "", parameters: [], skipCrds: false, valuesObject: null } }, true],
    ["all of them", { helm: {}, kustomize: { images: [] }, directory: { recurse: false } }, true],
    ["an exclude", { directory: { recurse: false, exclude: "*.md" } }, false],
    ["a common label", { kustomize: { commonLabels: { a: "" } } }, false],
    ["empty values, which are values", { helm: { valuesObject: {} } }, false],
    ["an empty plugin, which means any", { plugin: {} }, false],
  ])("%s", (_name, block, same) => {
    expect(equalSources([decodeSource({ ...at, ...block })], [decodeSource(at)])).toBe(same);
  });
});

test("a whole sourceHydrator, however its dry repo is spelled", () => {
  const one = { drySource: { repoURL: "https://x/a.git", path: "a/" }, syncSource: { targetBranch: "b" } };
  expect(equalHydrator(one, { drySource: { repoURL: "https://x/a", path: "a" }, syncSource: { targetBranch: "b" } })).toBe(true);
  expect(equalHydrator(one, { ...one, syncSource: { targetBranch: "c" } })).toBe(false);
  expect(equalHydrator(one, { ...one, hydrateTo: { targetBranch: "c" } })).toBe(false);
  expect(equalHydrator(one, undefined)).toBe(false);
  expect(equalHydrator(undefined, undefined)).toBe(true);
  expect([sameProject("", "default"), sameProject(undefined, "a")]).toEqual([true, false]);
});
