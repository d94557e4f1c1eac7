import { expect, test } from "vitest";
import { sayProblem } from "./problems.ts";

test("a problem in an annotation, or of several Applications, says so", () => {
  const place = { severity: "error", file: "r.yaml", line: 1, column: 1, path: [] } as const;
  const problem = { code: "PIN_FILE_MISSING", pinFile: "a.yaml", ...place, path: [] } as const;
  const said = (more: object) => sayProblem({ ...problem, ...more }).message;
  expect(said({ inside: ["pins", 0, "path"] })).toBe("in the annotation, pins[0].path: pin file a.yaml does not exist");
  expect(said({ targets: { names: ["a", "b", "c", "d"], example: false } })).toBe("pin file a.yaml does not exist (a, b, c and 1 more)");
  expect(said({ targets: { names: ["a", "b"], example: true } })).toBe("pin file a.yaml does not exist (a; the same for 1 more)");
});
