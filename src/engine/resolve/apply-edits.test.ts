import { describe, expect, test } from "vitest";
import { NO_CLUSTER } from "../../core/pins/cluster-entries.ts";
import type { Edit } from "../../core/plan/plan-types.ts";
import { applyEdits } from "./apply-edits.ts";

function value(path: string, to: string, file = "a.yaml"): Edit {
  return { file, path, kind: "value", from: null, to };
}

function apply(files: Record<string, string>, edits: readonly Edit[]) {
  const result = applyEdits(edits, (path) => files[path] ?? null);
  return result.ok ? Object.fromEntries(result.files) : result.problem;
}

describe("edits of a batch", () => {
  test("change the values of every file, and no other byte", () => {
    const files = { "a.yaml": "# top\nx:   'v1' # one\ny: v1\n", "b.yaml": "z: v1\r\n", "c.yaml": "z: v1\n" };
    expect(apply(files, [value("x", "v2"), value("y", "v3"), value("z", "v4", "b.yaml")])).toEqual({
      "a.yaml": "# top\nx:   'v2' # one\ny: v3\n",
      "b.yaml": "z: v4\r\n",
    });
  });

  test("that take away what a run made leave the file as it was, beside values that change", () => {
    const gone = (path: string, from: string, made: number): Edit => ({ ...value(path, ""), from, made, removes: true });
    const edits = [value("x", "v1"), gone("images[name=web].newTag", "v2", 3), gone("image.tag", "v2", 1)];
    const files = { "a.yaml": "x: v2\nimage:\n  repo: web\n  tag: v2\nimages:\n  - name: web\n    newTag: v2\n" };
    const after = { "a.yaml": "x: v1\nimage:\n  repo: web\n" };
    expect(apply(files, edits)).toEqual(after);
    expect(apply(after, edits)).toEqual(after);
    const [changed] = [{ "a.yaml": files["a.yaml"].replace("newTag: v2", "newTag: v2 # ours") }];
    expect(apply(changed, edits)).toMatchObject({ code: "PIN_VERIFY", file: "a.yaml" });
  });

  test("of a branch touch no file", () => {
    expect(apply({}, [{ file: "", path: "env/a", kind: "branch", from: null, to: "abc" }])).toEqual({});
  });

  test("in a file that is not there are a problem", () => {
    expect(apply({}, [value("x", "v2")])).toMatchObject({ code: "PIN_FILE_MISSING", file: "a.yaml" });
  });

  test("at a path that is not there are a problem with its place", () => {
    expect(apply({ "a.yaml": "a: 1\nb:\n  c: 2\n" }, [value("b.d", "v2")])).toMatchObject({
      code: "PIN_NOT_FOUND",
      file: "a.yaml",
      line: 3,
    });
  });

  test("in a file that must not be read are a problem", () => {
    const result = applyEdits([value("x", "v2")], () => {
      throw new Error("it is a symbolic link");
    });
    expect(result).toMatchObject({
      ok: false,
      problem: { code: "PIN_FILE_UNREADABLE", pinFile: "a.yaml", said: "it is a symbolic link" },
    });
  });
});

describe("clusters move between two generator entries", () => {
  const set = (old: string, young: string, notIn: string, inside: string) => `spec:
  generators:
    - clusters: { values: { revision: ${old} } } # the old one
      selector:
        matchExpressions:
          - { key: name, operator: NotIn, values: ${notIn} }
    - clusters: { values: { revision: ${young} } }
      selector:
        matchExpressions:
          - { key: name, operator: In, values: ${inside} }
`;
  const move = (cluster: string, to = "v2"): Edit => ({
    file: "a.yaml",
    path: "spec.generators[0]",
    kind: "clusterGenerator",
    entry: "spec.generators[1]",
    cluster,
    at: "values.revision",
    from: "v1",
    to,
  });
  const moved = (text: string, ...edits: Edit[]) => {
    const result = apply({ "a.yaml": text }, edits);
    return "a.yaml" in result ? (result as Record<string, string>)["a.yaml"] : result;
  };

  test("the first batch also sets the version of the entry that nobody is with", () => {
    expect(moved(set("v1", "v0", "[]", "[]"), move("b"), move("a"))).toBe(set("v1", "v2", "[b, a]", "[b, a]"));
  });

  test("later ones only move", () => {
    expect(moved(set("v1", "v2", "[a]", "[a]"), move("b"))).toBe(set("v1", "v2", "[a, b]", "[a, b]"));
  });

  test("one that is there already stays", () => {
    expect(moved(set("v1", "v2", "[a]", "[a]"), move("a"))).toBe(set("v1", "v2", "[a]", "[a]"));
  });

  test("the next release moves them back, since all are with the In entry", () => {
    const first = moved(set("v1", "v2", "[a, b, c]", "[a, b, c]"), move("a", "v3"), move("b", "v3"));
    expect(first).toBe(set("v3", "v2", "[c]", "[c]"));
    expect(moved(String(first), move("c", "v3"))).toBe(set("v3", "v2", `[${NO_CLUSTER}]`, `[${NO_CLUSTER}]`));
  });

  test("an entry that holds clusters at another version takes none", () => {
    expect(moved(set("v1", "v2", "[a]", "[a]"), move("b", "v3"))).toMatchObject({ code: "PIN_AMBIGUOUS" });
  });

  test("lists of one name a line keep their indentation and comments", () => {
    const text = (notIn: string, inside: string) => `spec:
  generators:
  - clusters: { values: { revision: v1 } }
    selector:
      matchExpressions:
      - key: name
        operator: NotIn
        values:${notIn}
  - clusters: { values: { revision: v2 } }
    selector:
      matchExpressions:
      - key: name
        operator: In
        values:${inside}
    # the end
`;
    const one = text("\n        - a # first", "\n          - a");
    const two = text("\n        - a # first\n        - b", "\n          - a\n          - b");
    expect(moved(one, move("b"))).toBe(two);
    expect(moved(two.replace("revision: v2", "revision: v9").replace("revision: v1", "revision: v2"), move("b"))).toBe(
      one.replace("revision: v2", "revision: v9").replace("revision: v1", "revision: v2"),
    );
  });

  test("a name that would be read as something else is quoted", () => {
    const result = String(moved(set("v1", "v2", "[a]", "[a]"), move("10"), move("on")));
    expect(result).toMatch(/\[a, ['"]10['"], ['"]on['"]\]/);
  });
});
