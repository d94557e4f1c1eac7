import type { RenderProblem } from "./render.ts";

/** What is wrong with the manifest of an ApplicationSet and with who applies it. */
export interface SetProblems {
  /** The Application that applies the set waits for a person. */
  PARENT_BY_HAND: { parent: string; set: string };
  /** Several files declare it, and which one Argo CD has cannot be told. */
  SET_AMBIGUOUS: { set: string; files: readonly string[] };
  SET_BROKEN: { kind: "Yaml"; set: string; said: string } | { kind: "Render"; set: string; problem: RenderProblem };
}
