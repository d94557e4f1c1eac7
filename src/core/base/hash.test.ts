import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyText } from "../../../test/support/any-text.ts";
import { canonicalJson, sha256, sha256OfParts } from "./hash.ts";

describe("sha256", () => {
  test("is the standard's for the empty text and for abc", () => {
    expect(sha256("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect(sha256("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });

  test("is the platform's for any text", () => {
    fc.assert(fc.property(anyText(300), (text) => sha256(text) === createHash("sha256").update(text, "utf8").digest("hex")));
  });

  test("is the platform's at every length around a block's end", () => {
    for (let n = 0; n < 200; n++) expect(sha256("x".repeat(n))).toBe(createHash("sha256").update("x".repeat(n)).digest("hex"));
  });

  test("of a text in pieces is that of the whole, however long it and they are", () => {
    for (const [piece, count] of [
      ["é", 3],
      ["ab🙂", 40_000],
      ["x".repeat(70_000), 3],
      ["", 2],
    ] as const) {
      const parts = Array.from({ length: count }, () => piece);
      expect(sha256OfParts(parts)).toBe(sha256(parts.join("")));
    }
  });
});

describe("canonical JSON", () => {
  test("does not depend on the order of keys and leaves undefined out", () => {
    expect(canonicalJson({ b: [1, { d: null, c: "x" }], a: undefined })).toBe('{"b":[1,{"c":"x","d":null}]}');
    expect(canonicalJson({ b: 1, a: 2 })).toBe(canonicalJson({ a: 2, b: 1 }));
  });

  test("is JSON of the same data", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (data) => {
        expect(JSON.parse(canonicalJson(data))).toEqual(JSON.parse(JSON.stringify(data)));
      }),
    );
  });
});
