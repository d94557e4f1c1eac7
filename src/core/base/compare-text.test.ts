import fc from "fast-check";
import { expect, test } from "vitest";
import { compareText, sortedByText } from "./compare-text.ts";

const TEXT = fc.string({ unit: fc.constantFrom("a", "b", "-", "é", "\ue000", "\uffff", "😀", "\ud83d", "\udfff"), maxLength: 6 });

test("texts that are well formed stand in the order of their UTF-8 bytes", () => {
  const wellFormed = TEXT.filter((text) => text.isWellFormed());
  fc.assert(
    fc.property(wellFormed, wellFormed, (a, b) => {
      expect(Math.sign(compareText(a, b))).toBe(Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))));
    }),
  );
});

test("a list is sorted by one text and then another as by comparing each pair, and is itself left as it was", () => {
  const row = fc.record({ name: TEXT, key: TEXT });
  fc.assert(
    fc.property(fc.array(row, { maxLength: 12 }), (rows) => {
      const before = [...rows];
      const sorted = sortedByText(
        rows,
        ({ name }) => name,
        ({ key }) => key,
      );
      expect(sorted).toEqual(rows.toSorted((a, b) => compareText(a.name, b.name) || compareText(a.key, b.key)));
      expect(rows).toEqual(before);
    }),
  );
});
