import { describe, expect, test } from "vitest";
import { pathMatcher, whyNoGlob } from "./path-glob.ts";

describe("globs over paths of a repo", () => {
  test.each([
    ["apps/payments/**", "apps/payments/deployment.yaml", true],
    ["apps/payments/**", "apps/payments/base/deep/a.yaml", true],
    ["apps/payments/**", "apps/payments-eu/a.yaml", false],
    ["apps/*/kustomization.yaml", "apps/payments/kustomization.yaml", true],
    ["apps/*/kustomization.yaml", "apps/payments/base/kustomization.yaml", false],
    ["**/values.yaml", "values.yaml", true],
    ["**/values.yaml", "a/b/values.yaml", true],
    ["**/values.yaml", "a/b/my-values.yaml", false],
    ["apps/payments", "apps/payments/a.yaml", true],
    ["apps/payments/", "apps/payments/a.yaml", true],
    ["apps/payments", "apps/payments2", false],
    ["apps/v?.yaml", "apps/v1.yaml", true],
    ["apps/v[12].yaml", "apps/v3.yaml", false],
    ["apps/a.b", "apps/axb", false],
    ["apps/[x", "apps/[x", true],
    ["apps/v[1-3].yaml", "apps/v2.yaml", true],
    ["**", "anything/at/all", true],
  ])("%s and %s: %s", (glob, path, matches) => {
    expect(pathMatcher([glob])(path)).toBe(matches);
  });

  test("a later `!` takes paths out again", () => {
    const matches = pathMatcher(["apps/**", "!apps/**/*.md", "apps/KEEP.md"]);
    expect(["apps/a.yaml", "apps/x/README.md", "apps/KEEP.md", "README.md"].map(matches)).toEqual([true, false, true, false]);
  });

  test.each(["", "!", "/apps/**", "../x", "a/../b"])("%s is none", (glob) => {
    expect(whyNoGlob(glob)).toBeDefined();
  });
});
