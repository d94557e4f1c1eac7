import fc from "fast-check";
import { expect, test } from "vitest";
import { scalarsOf } from "../../../test/corpus/scalars.ts";
import { findPin } from "./find.ts";
import { splice } from "./splice.ts";
import { yamlText } from "./testing/arbitrary-yaml.ts";
import { type MadePin, unmake } from "./unmake.ts";

const RUNS = Number(process.env["PINS_RUNS"] ?? 400);
const BELOW = ["tag", "image.tag", "images[name=web].newTag", "images[name=web].newName", "images[name=api].newTag"];
const wanted = fc.array(fc.tuple(fc.nat(), fc.constantFrom(...BELOW), fc.constantFrom("v2", "1.10", "on", "a: b")), {
  minLength: 1,
  maxLength: 5,
});

/** Pins that are not there yet, below random mappings of a text. */
function absent(text: string, rolls: readonly (readonly [number, string, string])[]): MadePin[] {
  const paths = scalarsOf(text).scalars.map((one) => one.byIndex);
  const maps = ["", ...new Set(paths.flatMap((path) => /^(.+)\.[^.[\]"]+$/.exec(path)?.[1] ?? []))];
  const pins = new Map<string, MadePin>();
  for (const [roll, below, value] of rolls) {
    const map = maps[roll % maps.length] ?? "";
    const path = map === "" ? below : `${map}.${below}`;
    const found = findPin(text, { path, create: true });
    if (found.ok && found.found.made !== undefined) pins.set(path, { path, value, made: found.found.made });
  }
  return [...pins.values()];
}

test("what random pins made goes in any order, part by part, and takes nothing of anybody's with it", () => {
  let [done, refused] = [0, 0];
  const run = (text: string, rolls: readonly (readonly [number, string, string])[], first: number, line: number): void => {
    const pins = absent(text, rolls);
    const after = splice(
      text,
      pins.map((pin) => ({ ...pin, create: true })),
    );
    if (pins.length === 0 || !after.ok) return;
    const whole = unmake(after.text, first % 2 === 0 ? pins : pins.toReversed());
    if (whole.ok) done++;
    else refused++;
    if (whole.ok) expect(whole.text).toBe(text);
    const one = pins[first % pins.length] as MadePin;
    const others = pins.filter((pin) => pin !== one);
    const part = unmake(after.text, [one]);
    if (part.ok) {
      for (const { path, value } of others) expect(findPin(part.text, { path })).toMatchObject({ ok: true, found: { value } });
      const rest = unmake(part.text, others);
      if (rest.ok) expect(rest.text).toBe(text);
    }
    const lines = after.text.split("\n");
    const theirs = "# theirs: 1\n";
    const edited = unmake(lines.toSpliced(line % lines.length, 0, theirs.trimEnd()).join("\n"), pins);
    if (edited.ok) expect(edited.text.replace(theirs, "").replace(`\n${theirs.trimEnd()}`, "")).toBe(text);
  };
  fc.assert(fc.property(yamlText, wanted, fc.nat(), fc.nat(), run), { numRuns: RUNS });
  expect(done).toBeGreaterThan(RUNS / 10);
  expect(refused).toBeLessThan(done / 20);
});
