/** What a metric has to meet, read from its conditions: `at most 0.01`. Called by `causes.ts` and `leaf-nodes.ts`. */
import type { AnalysisMetric } from "../../run/state/analysis-types.ts";

/** One number compared with one limit: all that most conditions are. */
const COMPARED =
  /^\s*(?:result(?:\[0\])?|asFloat\(result(?:\[0\])?\)|asInt\(result(?:\[0\])?\))\s*(<=|>=|==|!=|<|>)\s*(-?\d[\d.]*(?:e-?\d+)?)\s*$/;

const ALLOWED = { "<=": "at most", "<": "less than", ">=": "at least", ">": "more than", "==": "exactly", "!=": "anything but" } as const;
type Operator = keyof typeof ALLOWED;

/** It fails there, so the other side of it is allowed. */
const OTHER_SIDE: Readonly<Record<Operator, Operator>> = { "<=": ">", "<": ">=", ">=": "<", ">": "<=", "==": "!=", "!=": "==" };

/** In words where a condition only compares, else as it is written; "" where the template has none. */
export function limitOf({ successCondition, failureCondition }: Pick<AnalysisMetric, "successCondition" | "failureCondition">): string {
  const success = comparedOf(successCondition);
  if (success !== undefined) return `allowed is ${ALLOWED[success.operator]} ${success.number}`;
  const failure = comparedOf(failureCondition);
  if (failure !== undefined) return `allowed is ${ALLOWED[OTHER_SIDE[failure.operator]]} ${failure.number}`;
  if (successCondition !== undefined) return `has to be ${successCondition}`;
  return failureCondition === undefined ? "" : `must not be ${failureCondition}`;
}

/** The numbers between which a value is allowed; without either where no condition is that simple. */
export function boundsOf({ successCondition, failureCondition }: Pick<AnalysisMetric, "successCondition" | "failureCondition">): {
  least?: number;
  most?: number;
} {
  const [success, failure] = [comparedOf(successCondition), comparedOf(failureCondition)];
  const compared = success ?? (failure && { ...failure, operator: OTHER_SIDE[failure.operator] });
  const number = Number(compared?.number);
  if (compared === undefined || compared.operator === "!=" || !Number.isFinite(number)) return {};
  return {
    ...(compared.operator.startsWith("<") ? undefined : { least: number }),
    ...(compared.operator.startsWith(">") ? undefined : { most: number }),
  };
}

function comparedOf(condition: string | undefined): { operator: Operator; number: string } | undefined {
  const [, operator, number] = COMPARED.exec(condition ?? "") ?? [];
  return operator === undefined || number === undefined ? undefined : { operator: operator as Operator, number };
}
