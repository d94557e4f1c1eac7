/** Checks label selectors, of rollouts and of settings. */
import { show } from "../../base/problem.ts";
import { isLabelKey, isLabelValue, type Selector } from "../../base/selector.ts";
import type { Finding, Path } from "../../reasons/problems/problem.ts";

/** Not labels but the cluster's own: any text. */
const OWN_FIELDS = new Set(["name", "server"]);

/** What Kubernetes would refuse of a selector, where there is one, and what can never match anything. */
export function checkSelector(selector: Selector | undefined, path: Path): Finding[] {
  if (selector === undefined) return [];
  return [...checkSyntax(selector, path), ...checkOperands(selector, path), ...checkContradiction(selector, path)];
}

function checkSyntax(selector: Selector, path: Path): Finding[] {
  const findings: Finding[] = [];
  const check = (key: string, values: readonly string[], keyPath: Path, valuePath: Path, atKey: boolean) => {
    if (!isLabelKey(key)) {
      findings.push({ code: "BAD_LABEL", kind: "Key", given: show(key), path: keyPath, atKey });
      return;
    }
    for (const value of OWN_FIELDS.has(key) ? [] : values) {
      if (!isLabelValue(value)) findings.push({ code: "BAD_LABEL", kind: "Value", given: show(value), path: valuePath });
    }
  };
  for (const [key, value] of Object.entries(selector.matchLabels)) {
    const place = [...path, "matchLabels", key];
    check(key, [value], place, place, true);
  }
  for (const [i, { key, values }] of selector.matchExpressions.entries()) {
    const place = [...path, "matchExpressions", i];
    check(key, values, [...place, "key"], [...place, "values"], false);
  }
  return findings;
}

function checkOperands({ matchExpressions }: Selector, path: Path): Finding[] {
  return matchExpressions.flatMap(({ operator, values }, i): Finding[] => {
    const isNeeded = operator === "In" || operator === "NotIn";
    if (isNeeded === values.length > 0) return [];
    const place = [...path, "matchExpressions", i];
    return [{ code: "SELECTOR_VALUES", operator, path: isNeeded ? place : [...place, "values"] }];
  });
}

interface Demand {
  /** undefined: anything. */
  allowed?: Set<string>;
  forbidden: Set<string>;
  present: boolean;
  absent: boolean;
}

/** Requirements on one label that cannot hold at once are told at the first expression that makes it so. */
function checkContradiction({ matchLabels, matchExpressions }: Selector, path: Path): Finding[] {
  const demands = new Map<string, Demand>();
  for (const [key, value] of Object.entries(matchLabels))
    demands.set(key, { allowed: new Set([value]), forbidden: new Set(), present: true, absent: false });
  const findings = new Map<string, Finding>();
  for (const [i, { key, operator, values }] of matchExpressions.entries()) {
    const demand = demands.get(key) ?? { forbidden: new Set(), present: false, absent: false };
    demands.set(key, demand);
    const { allowed } = demand;
    const isIn = operator === "In" && values.length > 0;
    if (isIn) demand.allowed = new Set(values.filter((value) => allowed?.has(value) ?? true));
    if (operator === "NotIn") for (const value of values) demand.forbidden.add(value);
    if (isIn || operator === "Exists") demand.present = true;
    if (operator === "DoesNotExist") demand.absent = true;
    if (!findings.has(key) && !isPossible(demand))
      findings.set(key, { code: "SELECTOR_NEVER_MATCHES", label: key, path: [...path, "matchExpressions", i] });
  }
  return [...findings.values()];
}

function isPossible({ allowed, forbidden, present, absent }: Demand): boolean {
  return !(present && absent) && (allowed === undefined || [...allowed].some((value) => !forbidden.has(value)));
}
