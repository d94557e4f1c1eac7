import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { findPin } from "./find.ts";
import { splice } from "./splice.ts";
import type { SpliceEdit } from "./types.ts";

function spliced(text: string, ...edits: (Partial<SpliceEdit> & { path: string })[]) {
  const result = splice(
    text,
    edits.map((edit) => ({ value: "v2", create: true, ...edit })),
  );
  return result.ok ? result.text : `${result.error.code} ${result.error.line}`;
}

const values = (text: string): unknown => parse(text, { merge: true });

const DEFAULT = `default: &default
  image: &image { repository: acme/web, tag: v1 } # all of them
  replicas: 2
`;

describe("a value of its own below what is borrowed", () => {
  const cases: [name: string, before: string, path: string, after: string][] = [
    [
      "below what a merge brings, by the anchor of what is around it",
      `${DEFAULT}prod:\n  <<: *default\n  replicas: 3 # more\n# end\n`,
      "prod.image.tag",
      `${DEFAULT}prod:\n  <<: *default\n  replicas: 3 # more\n  image: {<<: *image, tag: v2}\n# end\n`,
    ],
    [
      "below an alias, in its place",
      `${DEFAULT}prod:\n  image: *image # as all\n  a: 1\n`,
      "prod.image.tag",
      `${DEFAULT}prod:\n  image: {<<: *image, tag: v2} # as all\n  a: 1\n`,
    ],
    [
      "that stands alone there, without any anchor",
      "d: &d\n  image:\n    tag: v1\n  x: 1\np:\n  <<: *d\n",
      "p.image.tag",
      "d: &d\n  image:\n    tag: v1\n  x: 1\np:\n  <<: *d\n  image: {tag: v2}\n",
    ],
    [
      "two levels down",
      "d: &d\n  web: &w\n    image: &i {name: x, tag: v1}\n    port: 80\np:\n  <<: *d\n",
      "p.web.image.tag",
      "d: &d\n  web: &w\n    image: &i {name: x, tag: v1}\n    port: 80\np:\n  <<: *d\n  web: {<<: *w, image: {<<: *i, tag: v2}}\n",
    ],
    [
      "brought by an alias inside of what a merge brings",
      "i: &i {name: x, tag: v1}\nd: &d\n  image: *i\n  y: 1\np: {<<: *d}\n",
      "p.image.tag",
      "i: &i {name: x, tag: v1}\nd: &d\n  image: *i\n  y: 1\np: {<<: *d, image: {<<: *i, tag: v2}}\n",
    ],
    [
      "an item of a list that is an alias",
      "i: &i {name: web, tag: v1}\nl:\n  - *i # c\n  - {name: b}\n",
      "l[name=web].tag",
      "i: &i {name: web, tag: v1}\nl:\n  - {<<: *i, tag: v2} # c\n  - {name: b}\n",
    ],
  ];
  test.each(cases)("%s", (_name, before, path, after) => {
    expect(spliced(before, { path })).toBe(after);
    expect(findPin(after, { path })).toMatchObject({ ok: true, found: { value: "v2" } });
    // Written once, it is its own: the next release changes that value alone.
    expect(spliced(after, { path, value: "v3", create: false })).toBe(after.replace("tag: v2", "tag: v3"));
    const expected = values(before) as object;
    const changed = values(after) as object;
    expect({ ...changed, prod: 0, p: 0, l: 0 }).toEqual({ ...expected, prod: 0, p: 0, l: 0 });
  });

  test("all else of it follows the default, and two values of one place are one line", () => {
    const text = "d: &d\n  image: &i {tag: v1, digest: x, name: n}\np:\n  <<: *d\n";
    const after = spliced(text, { path: "p.image.tag" }, { path: "p.image.digest", value: "d2" }, { path: "p.new", value: "z" });
    expect(after).toBe(`${text}  image: {<<: *i, tag: v2, digest: d2}\n  new: z\n`);
    expect(values(after)).toMatchObject({ d: { image: { tag: "v1", digest: "x" } }, p: { image: { tag: "v2", digest: "d2", name: "n" } } });
    expect(spliced(text, { path: "p.image.tag" }, { path: "p.image.tag", value: "v3" })).toBe("PIN_AMBIGUOUS 2");
  });

  test("what stands there already is not written again, and a part of it is", () => {
    const text = "d: &d\n  web: &w {image: 'a:v1', x: 1}\np:\n  <<: *d\n";
    expect(spliced(text, { path: "p.web.image", value: "a:v1" })).toBe(text);
    expect(spliced(text, { path: "p.web.image", part: "tag" })).toBe(`${text}  web: {<<: *w, image: a:v2}\n`);
  });

  test("what would be read as something else is quoted", () => {
    expect(spliced(`${DEFAULT}prod: { <<: *default }\n`, { path: "prod.image.tag", value: "1.20" })).toContain('{<<: *image, tag: "1.20"}');
    expect(spliced(`${DEFAULT}prod: { <<: *default }\n`, { path: "prod.image.tag", value: "a, b}" })).toContain('tag: "a, b}"}');
  });

  test.each([
    ["without create", `${DEFAULT}prod:\n  <<: *default\n`, "prod.image.tag", { create: false }],
    ["with more around it and no anchor to follow it by", "d: &d\n  image: {tag: v1, name: x}\np:\n  <<: *d\n", "p.image.tag", {}],
    ["by an anchor that is given twice", "d: &d\n  image: &i {tag: v1, name: x}\ne: &i {a: 1}\np:\n  <<: *d\n", "p.image.tag", {}],
    ["in what others share in turn", `${DEFAULT}prod: &prod\n  <<: *default\nother: *prod\n`, "prod.image.tag", {}],
    ["in the shared default itself", `${DEFAULT}prod:\n  <<: *default\n`, "default.image.tag", {}],
    ["by an index in what is shared", "d: &d\n  l: [{tag: v1}]\np:\n  <<: *d\n", "p.l[0].tag", {}],
  ])("is refused %s, and the file stays", (_why, text, path, edit) => {
    expect(spliced(text, { path, ...edit })).toMatch(/^PIN_SHARED_ANCHOR /);
  });

  test("the refusal names the mapping that needs an anchor, and its line", () => {
    const result = splice("d: &d\n  image:\n    tag: v1\n    name: x\np:\n  <<: *d\n", [
      { path: "p.image.tag", value: "v2", create: true },
    ]);
    expect(result.ok ? undefined : result.error).toMatchObject({
      code: "PIN_SHARED_ANCHOR",
      follow: { pinPath: "d.image", line: 3, name: "image" },
    });
  });

  test("of thousands who share it the refusal names the first", () => {
    const rows = Array.from({ length: 2000 }, (_, i) => `- { <<: *d, name: c${i} }\n`).join("");
    const result = splice(`d: &d { tag: v1 }\nl:\n${rows}`, [{ path: "l[name=c1999].tag", value: "v2" }]);
    expect(result.ok ? undefined : result.error).toMatchObject({ code: "PIN_SHARED_ANCHOR", more: 1991, writable: true });
    expect(!result.ok && "sharers" in result.error && result.error.sharers.length).toBe(10);
  });
});

/** A mapping of mappings, each with an anchor of its own, in either style. */
function written(tree: Shape, column: number, name: string): string {
  const entries = Object.entries(tree.own).map(([key, value]) => [key, typeof value === "string" ? JSON.stringify(value) : value] as const);
  if (tree.flow) {
    const inside = entries.map(
      ([key, value]) => `${key}: ${typeof value === "string" ? value : written({ ...value, flow: true }, 0, `${name}_${key}`)}`,
    );
    return `&${name} {${inside.join(", ")}}`;
  }
  const pad = " ".repeat(column);
  const lines = entries.map(
    ([key, value]) => `${pad}${key}: ${typeof value === "string" ? value : written(value, column + 2, `${name}_${key}`)}`,
  );
  return `&${name}\n${lines.join("\n")}`;
}

interface Shape {
  flow: boolean;
  own: Record<string, Shape | string>;
}

const shapes = fc.letrec<{ shape: Shape }>((tie) => ({
  shape: fc.record({
    flow: fc.boolean(),
    own: fc.dictionary(
      fc.constantFrom("a", "b", "c"),
      fc.oneof({ depthSize: "small" }, fc.constantFrom("v1", "1.0", "x y"), tie("shape")),
      { minKeys: 1 },
    ),
  }),
})).shape;

/** Paths of the values that stand below something. */
function pathsOf(shape: Shape, above: readonly string[] = []): string[][] {
  return Object.entries(shape.own).flatMap(([key, value]) =>
    typeof value === "string" ? [[...above, key]] : pathsOf(value, [...above, key]),
  );
}

test("whatever the default is like: it stays, and what borrows it differs in that value alone", () => {
  let done = 0;
  fc.assert(
    fc.property(shapes, fc.nat(), fc.boolean(), fc.constantFrom("v2", "1.20", "a, {b}", "on"), (shape, roll, byAlias, value) => {
      const paths = pathsOf(shape).filter((one) => byAlias || one.length > 1);
      const steps = paths[roll % Math.max(paths.length, 1)];
      if (steps === undefined) return;
      const text = `base: ${written(shape, 2, "base")}\nown:${byAlias ? " *base" : "\n  <<: *base"}\n`;
      const after = spliced(text, { path: `own.${steps.join(".")}`, value });
      const before = values(text) as { base: unknown; own: Record<string, unknown> };
      const wanted = structuredClone(before);
      const last = steps.slice(0, -1).reduce((node, step) => node[step] as Record<string, unknown>, wanted.own);
      last[steps.at(-1) ?? ""] = value;
      expect(values(after)).toEqual({ base: before.base, own: wanted.own });
      expect(after.split("\n").filter((line, at) => line !== text.split("\n")[at])).toHaveLength(byAlias ? 1 : 2);
      done++;
    }),
    { numRuns: Number(process.env["PINS_RUNS"] ?? 400) },
  );
  expect(done).toBeGreaterThan(100);
});
