import { describe, expect, test } from "vitest";
import { ownersOf, parseCodeowners } from "./codeowners.ts";

describe("whom CODEOWNERS names for a path", () => {
  test.each([
    { line: "*.yaml", path: "apps/a.yaml", owned: true },
    { line: "/apps/", path: "apps/deep/a.yaml", owned: true },
    { line: "/apps/", path: "more/apps/a.yaml", owned: false },
    { line: "apps/", path: "more/apps/a.yaml", owned: true },
    { line: "apps/", path: "more/apps", owned: false },
    { line: "/apps/*", path: "apps/deep/a.yaml", owned: false },
    { line: "docs/**/x.md", path: "docs/a/b/x.md", owned: true },
    { line: "docs/a", path: "docs/a/b/x.md", owned: true },
    { line: "docs/a", path: "more/docs/a", owned: false },
    { line: "apps", path: "more/apps/a.yaml", owned: true },
    { line: "apps", path: "more/myapps/a.yaml", owned: false },
    { line: "a.yaml", path: "apps/a.yaml", owned: true },
    { line: "/a.yaml", path: "apps/a.yaml", owned: false },
  ])("$line owns $path: $owned", ({ line, path, owned }) => {
    expect(parseCodeowners(`# who\n${line} @mia # really`)[0]?.matches(path)).toBe(owned);
  });

  test("is the last line that fits; one without names takes the path out", () => {
    const lines = parseCodeowners("* @all\n/apps/ @apps @ops\n/apps/free\n");
    expect(["a", "apps/b", "apps/free"].map((path) => ownersOf(lines, path))).toEqual([["@all"], ["@apps", "@ops"], []]);
  });

  test.each([
    ["/a @mia # not @joe\r\n# * @joe\r\n", ["@mia"]],
    ["/a mia@example.com @a#b\n", ["mia@example.com", "@a#b"]],
  ])("is nobody of a comment, also where lines end as on Windows: %j", (text, owners) => {
    expect(ownersOf(parseCodeowners(text), "a")).toEqual(owners);
  });

  test("of more patterns than are read is somebody, so that no approval is thought needless", () => {
    expect(ownersOf(parseCodeowners("/x/*y @all\n".repeat(501)), "apps/a.yaml")).toEqual(["@all"]);
    expect(ownersOf(parseCodeowners("/x/*y @all\n".repeat(500)), "apps/a.yaml")).toEqual([]);
    expect(ownersOf(parseCodeowners(`${"# c\n".repeat(10_001)}* @all\n`), "apps/a.yaml")).not.toEqual([]);
  });
});
