import { expect, test } from "vitest";
import type { ProblemReason } from "../../../reasons/problem.ts";
import { PROBLEM_SAMPLES } from "../testing/problem-samples.ts";
import { sayProblem } from "./problems.ts";

test("every problem is said in each of its kinds, with the next step", async () => {
  const lines = Object.entries(PROBLEM_SAMPLES).flatMap(([code, samples]) =>
    samples.map((data) => {
      const { message, hint } = sayProblem({ code, ...data } as ProblemReason);
      expect(`${message}${hint}`).not.toMatch(/undefined|\[object/);
      return `${code}: ${message}\n  → ${hint}`;
    }),
  );
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("__snapshots__/problems.txt");
});

test("a problem in an annotation, or of several Applications, says so", () => {
  const place = { severity: "error", file: "r.yaml", line: 1, column: 1, path: [] } as const;
  const problem = { code: "PIN_FILE_MISSING", pinFile: "a.yaml", ...place, path: [] } as const;
  const said = (more: object) => sayProblem({ ...problem, ...more }).message;
  expect(said({ inside: ["pins", 0, "path"] })).toBe("in the annotation, pins[0].path: pin file a.yaml is not there");
  expect(said({ targets: { names: ["a", "b", "c", "d"], example: false } })).toBe("pin file a.yaml is not there (a, b, c and 1 more)");
  expect(said({ targets: { names: ["a", "b"], example: true } })).toBe("pin file a.yaml is not there (a; the same for 1 more)");
});
