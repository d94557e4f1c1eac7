import type { Templating } from "./templating.ts";
import type { ParamSet, RenderContext } from "./types.ts";

/** What every generator of one ApplicationSet works with. */
export interface Environment {
  context: RenderContext;
  templating: Templating;
  /** `spec.applyNestedSelectors`. */
  nestedSelectors: boolean;
}

/** Generators that can be evaluated, by their key in the ApplicationSet. */
export type GeneratorKind = "list" | "clusters" | "git" | "matrix" | "merge";

/** Evaluates one generator. @throws RenderFailure */
export type Generate = (raw: Record<string, unknown>, environment: Environment, where: string) => ParamSet[];

/** Evaluates a generator inside a matrix or merge, which is given it: any kind may stand there. @throws RenderFailure */
export type EvaluateChild = (raw: unknown, environment: Environment, where: string) => ParamSet[];
