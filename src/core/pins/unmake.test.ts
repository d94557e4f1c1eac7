import { describe, expect, test } from "vitest";
import { findPin } from "./find.ts";
import { splice } from "./splice.ts";
import { type MadePin, unmake } from "./unmake.ts";

/** What `create` writes there, and the pins as a plan has them. */
function made(text: string, ...pins: { path: string; value: string }[]): { after: string; pins: MadePin[] } {
  const planned = pins.map((pin) => {
    const found = findPin(text, { path: pin.path, create: true });
    if (!found.ok || found.found.value !== null) throw new Error(`${pin.path} is there`);
    return { ...pin, made: found.found.made ?? Number.NaN };
  });
  const done = splice(
    text,
    pins.map((pin) => ({ ...pin, create: true })),
  );
  if (!done.ok) throw new Error(JSON.stringify(done.error));
  return { after: done.text, pins: planned };
}

const TAG = { path: "images[name=web].newTag", value: "v2" };
const TEXTS: [string, string, { path: string; value: string }[]][] = [
  ["a key", "image:\n  repo: web # ours\n\nother: 1\n", [{ path: "image.tag", value: "1.10" }]],
  ["a key in a mapping that is not there", "# head\nother: 1\n", [{ path: "image.tag", value: "v2" }]],
  ["an empty value", "image:\n  tag:  # soon\nother: 1\n", [{ path: "image.tag", value: "v2" }]],
  ["an item and its list", "resources: [../base]\n", [TAG]],
  ["an item of an empty list", "resources: [../base]\nimages: []\nother: 1\n", [TAG]],
  ["an item below a key without a value", "images: # none yet\nother: 1\n", [TAG]],
  ["an item of a list", "images:\n  - name: api\n    newTag: v1\nother: 1\n", [TAG]],
  ["an item of a list in braces, with its quotes", "images:\n  - { name: 'api', newTag: 'v1' }\n", [TAG]],
  ["a key of an item", "images:\n  - name: web\n  - name: api\n", [TAG]],
  [
    "two keys of an item, and another's",
    "resources: []\n",
    [TAG, { path: "images[name=web].newName", value: "ghcr.io/web" }, { ...TAG, path: "images[name=api].newTag" }],
  ],
  ["a key at the end of a file, and a list below it", "x: v2\nimage:\n  repo: web\n", [TAG, { path: "image.tag", value: "v2" }]],
  [
    "in flow",
    "a: {b: {c: 1}, images: [{name: api, newTag: v1}]}\n",
    [
      { path: "a.b.d", value: "v2" },
      { ...TAG, path: "a.images[name=web].newTag" },
    ],
  ],
  [
    "two items in flow, of which only the last ends the list",
    '{"x": 1, "images": [{"name": "base"}]}\n',
    [TAG, { ...TAG, path: "images[name=api].newTag" }, { path: "y", value: "v2" }],
  ],
  ["in JSON", '{\n  "images": [\n    {"name": "api"}\n  ],\n  "x": {}\n}\n', [TAG, { path: "x.tag", value: "v2" }]],
  [
    "lines that end with CR LF, the last with nothing",
    "a:\r\n  b: 1\r\nc: 1",
    [
      { path: "a.tag", value: "v2" },
      { path: "d.e", value: "v2" },
    ],
  ],
];

describe("what create wrote", () => {
  test.each(TEXTS)("%s: goes, and the file is what it was to the byte", (_, text, wanted) => {
    const { after, pins } = made(text, ...wanted);
    expect(after).not.toBe(text);
    for (const order of [pins, pins.toReversed()]) expect(unmake(after, order)).toEqual({ ok: true, text });
    expect(unmake(text, pins)).toEqual({ ok: true, text });
  });

  test("what others wrote into the same list since stays, and so does the list", () => {
    const { after, pins } = made("resources: []\n", TAG);
    const theirs = `${after}  - name: api\n    newTag: v1\n`;
    expect(unmake(theirs, pins)).toEqual({ ok: true, text: "resources: []\nimages:\n  - name: api\n    newTag: v1\n" });
    expect(unmake(`${after}other: 1\n`, pins)).toEqual({ ok: true, text: "resources: []\nother: 1\n" });
  });

  test.each([
    ["another value", "v2", "v3"],
    ["a comment", "newTag: v2", "newTag: v2 # pinned, see #12"],
    ["another key in it", "newTag: v2", "newTag: v2\n    newName: mirror"],
    ["quotes", "v2", '"v2"'],
    ["another name", "newTag: v2", "newTag: &tag v2\nother: *tag"],
  ])("%s that somebody put there: nothing goes", (_, from, to) => {
    const { after, pins } = made("resources: []\n", TAG);
    const changed = after.replace(from, to);
    expect(unmake(changed, pins)).toMatchObject({ ok: false, error: { code: "PIN_VERIFY" }, pins });
  });

  test("of what could not come back as it was nobody says how much was made", () => {
    for (const text of ["", "# nothing\n", "tag: ~\n", "{tag: }\n"]) {
      const found = findPin(text, { path: "tag", create: true });
      expect(found).toMatchObject({ ok: true, found: { value: null } });
      expect(found.ok && found.found.made).toBeUndefined();
    }
  });
});
