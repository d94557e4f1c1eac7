import { describe, expect, test } from "vitest";
import { nearest } from "./nearest.ts";

describe("nearest", () => {
  test.each([
    ["imgae", ["tag", "image", "name"], "image"],
    ["TAG", ["tag", "image"], "tag"],
    ["tg", ["tag", "image"], "tag"],
    ["aplicationsets", ["applications", "applicationSets"], "applicationSets"],
    ["eu-central-2", ["eu-central-1", "eu-west-1"], "eu-central-1"],
  ])("of %s is meant what is fewest edits away, whatever its case", (word, known, meant) => {
    expect(nearest(word, known)).toBe(meant);
  });

  test.each([
    ["eu", ["us", "ap"]],
    ["tag", ["image", "name"]],
    ["", ["tag"]],
    ["x", []],
  ])("of %s nothing is near enough", (word, known) => {
    expect(nearest(word, known)).toBeUndefined();
  });

  test("the first of several as near", () => {
    expect(nearest("eu-3", ["eu-1", "eu-2"])).toBe("eu-1");
  });

  test("is quick however long the words are", () => {
    expect(nearest("x".repeat(1_000_000), ["y".repeat(1_000_000), "x".repeat(900_000)])).toBe("x".repeat(900_000));
  });
});
