import { holds } from "./expr/evaluate.ts";
import { ExpressionError } from "./expr/tokens.ts";
import type { Value } from "./expr/values.ts";
import type { AnalysisPhase } from "./metric.ts";

export interface Judged {
  phase: AnalysisPhase;
  message?: string;
}

/**
 * What a measured value means, as Argo Rollouts judges it: no condition, a success; one condition, its opposite is the
 * other outcome; both, failure first, and neither is inconclusive. A condition that cannot be evaluated is an Error.
 */
export function judgeValue(
  value: Value,
  conditions: { successCondition?: string | undefined; failureCondition?: string | undefined },
): Judged {
  const { successCondition = "", failureCondition = "" } = conditions;
  try {
    const success = successCondition === "" ? undefined : holds(successCondition, value);
    const failure = failureCondition === "" ? undefined : holds(failureCondition, value);
    if (success === undefined && failure === undefined) return { phase: "Successful" };
    if (failure ?? !success) return { phase: "Failed" };
    return { phase: (success ?? !failure) ? "Successful" : "Inconclusive" };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return { phase: "Error", message: error.message };
  }
}
