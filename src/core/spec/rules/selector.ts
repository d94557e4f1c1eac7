import { show } from "../../base/problem.ts";
import { isLabelKey, isLabelValue, type Selector } from "../../base/selector.ts";
import type { Finding } from "../../reasons/problem.ts";

type Path = (string | number)[];

/** Not labels but the cluster's own: any text. */
const OWN_FIELDS = new Set(["name", "server"]);

/** What Kubernetes would refuse of a selector, and what can never match anything. */
export function checkSelector(selector: Selector, path: Path): Finding[] {
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

function checkOperands(selector: Selector, path: Path): Finding[] {
  const findings: Finding[] = [];
  for (const [i, { operator, values }] of selector.matchExpressions.entries()) {
    const needs = operator === "In" || operator === "NotIn";
    const place = [...path, "matchExpressions", i];
    if (needs && values.length === 0) findings.push({ code: "SELECTOR_VALUES", operator, path: place });
    if (!needs && values.length > 0) findings.push({ code: "SELECTOR_VALUES", operator, path: [...place, "values"] });
  }
  return findings;
}

interface Demand {
  /** undefined: anything. */
  allowed?: Set<string>;
  forbidden: Set<string>;
  present: boolean;
  absent: boolean;
}

function checkContradiction(selector: Selector, path: Path): Finding[] {
  const demands = new Map<string, Demand>();
  const findings: Finding[] = [];
  const reported = new Set<string>();
  const demand = (key: string): Demand => {
    const found = demands.get(key) ?? { forbidden: new Set<string>(), present: false, absent: false };
    demands.set(key, found);
    return found;
  };
  const judge = (key: string, place: Path) => {
    if (reported.has(key) || possible(demand(key))) return;
    reported.add(key);
    findings.push({ code: "SELECTOR_NEVER_MATCHES", label: key, path: place });
  };
  for (const [key, value] of Object.entries(selector.matchLabels)) {
    demand(key).present = true;
    demand(key).allowed = new Set([value]);
  }
  for (const [i, { key, operator, values }] of selector.matchExpressions.entries()) {
    const here = demand(key);
    if (operator === "In" && values.length > 0) {
      here.present = true;
      here.allowed = new Set(values.filter((value) => here.allowed?.has(value) ?? true));
    }
    if (operator === "NotIn") for (const value of values) here.forbidden.add(value);
    if (operator === "Exists") here.present = true;
    if (operator === "DoesNotExist") here.absent = true;
    judge(key, [...path, "matchExpressions", i]);
  }
  return findings;
}

function possible(demand: Demand): boolean {
  if (demand.present && demand.absent) return false;
  if (demand.allowed === undefined) return true;
  for (const value of demand.allowed) if (!demand.forbidden.has(value)) return true;
  return false;
}
