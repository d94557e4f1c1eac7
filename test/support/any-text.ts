import fc from "fast-check";

/** Texts of any code points but halves of pairs. What fast-check has for it (`unit: "binary"`) takes two seconds to be set up in each file. */
export function anyText(maxLength: number): fc.Arbitrary<string> {
  const points = fc.array(fc.integer({ min: 0, max: 0x10ffff }), { maxLength });
  return points.map((some) => String.fromCodePoint(...some).toWellFormed());
}
