import { expect, test } from "vitest";
import { pointsOf } from "./points.ts";

const measurement = (value: string, minute = 0) => ({
  phase: "Successful",
  value,
  finishedAt: `2026-11-21T10:${String(minute).padStart(2, "0")}:00Z`,
});

test("a value is a point where it is one number, as engines show it; anything else is none", () => {
  const values = ["0.5", "[0.5]", " 12 ", "-3e-2", "[1,2]", "true", "", "*****", "NaN", "Infinity", "1.2.3", "1e999", '"7"'];
  expect(values.flatMap((value) => pointsOf([measurement(value)]) ?? []).map(({ value }) => value)).toEqual([0.5, 0.5, 12, -0.03]);
  expect(pointsOf([measurement("ok")])).toBeUndefined();
});

test("points have a time, and only the last ten are kept", () => {
  const many = Array.from({ length: 30 }, (_, minute) => measurement(String(minute), minute));
  const points = pointsOf([...many, { phase: "Successful", value: "31", finishedAt: "soon" }]) ?? [];
  expect(points.map(({ value }) => value)).toEqual([21, 22, 23, 24, 25, 26, 27, 28, 29]);
  expect(points.at(-1)?.at).toBe("2026-11-21T10:29:00.000Z");
});
