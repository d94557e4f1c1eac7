import { describe, expect, test } from "vitest";
import { changesBetween, type Folder, folderIn, leadsOut, printFolder } from "./folder.ts";

describe("a link in a directory that is copied", () => {
  test.each([
    ["a.yaml", "b.yaml", false],
    ["a/b.yaml", "../c.yaml", false],
    ["a/b.yaml", "./../c/d.yaml", false],
    ["a/b/c.yaml", "d/../../e.yaml", true],
    ["a.yaml", "../c.yaml", true],
    ["a/b.yaml", "../../c.yaml", true],
    ["a/b.yaml", "../c/../../d.yaml", true],
    ["a.yaml", "/etc/passwd", true],
    ["a.yaml", "..\\c.yaml", true],
  ])("%s → %s leads out: %s", (path, link, out) => {
    expect(leadsOut(path, link)).toBe(out);
  });
});

const file = (path: string, id = "1", mode = "100644") => ({ path, mode, id });

test("what differs between two directories: what is added, what has other bytes or another mode, what is gone", () => {
  const before: Folder = { id: "a", files: [file("same"), file("bytes"), file("mode"), file("gone")] };
  const after: Folder = { id: "b", files: [file("same"), file("bytes", "2"), file("mode", "1", "100755"), file("new")] };
  expect(changesBetween(before, after)).toEqual({ added: ["new"], changed: ["bytes", "mode"], removed: ["gone"] });
  expect(changesBetween(null, after)).toEqual({ added: ["same", "bytes", "mode", "new"], changed: [], removed: [] });
});

test("is read by its name with a slash at the end; what says something else there is no directory", () => {
  const folder: Folder = { id: "a", files: [file("x")] };
  expect(folderIn({ read: (path) => (path === "env/" ? printFolder(folder) : null) }, "env")).toEqual(folder);
  expect(folderIn({ read: () => null }, "env")).toBeNull();
  expect(() => folderIn({ read: () => "[1]" }, "env")).toThrow("not a directory");
});
