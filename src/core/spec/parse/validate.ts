import type { z } from "zod";
import { isRecord } from "../../base/is-record.ts";
import type { Finding, Problem } from "../../reasons/problem.ts";
import { findingsOf, findNotBuilt } from "./walk.ts";

/** Plain data with the way back to its place. */
export interface Placed {
  data: Record<string, unknown>;
  place(finding: Finding): Problem;
}

export interface Validated<T> {
  /** What could be read, faulty parts left out; undefined where too little is left. Valid as it stands only without findings. */
  value: T | undefined;
  findings: Finding[];
}

/**
 * Validates against a schema and collects every finding. Where some are found, the faulty parts are left out and the rest
 * read again, so that the cross-field rules can speak of the rest in the same pass.
 */
export function validate<S extends z.ZodType>(schema: S, data: unknown): Validated<z.output<S>> {
  const notBuilt = findNotBuilt(schema, data);
  const first = schema.safeParse(data);
  if (first.success) return { value: first.data, findings: notBuilt };
  const found = findingsOf(first.error.issues, schema, data).filter(
    (finding) => !notBuilt.some(({ path }) => startsWith(finding.path, path)),
  );
  const findings = [...notBuilt, ...found];
  const again = schema.safeParse(without(data, findings));
  return { value: again.success ? again.data : undefined, findings };
}

export function startsWith(path: readonly unknown[], start: readonly unknown[]): boolean {
  return start.every((step, i) => path[i] === step);
}

/** Findings of rules that speak of a part that was left out say nothing new. */
export function newFindings(rules: readonly Finding[], known: readonly Finding[]): Finding[] {
  return rules.filter(
    (finding) => !known.some(({ path }) => path.length > 0 && (startsWith(finding.path, path) || startsWith(path, finding.path))),
  );
}

function without(data: unknown, findings: readonly Finding[]): unknown {
  const copy: unknown = structuredClone(data);
  // An unknown key is only taken away; a stand-in would be unknown too.
  for (const { path, code } of findings) remove(copy, path, code !== "UNKNOWN_KEY" && code !== "NOT_BUILT_YET");
  return copy;
}

function remove(root: unknown, path: readonly (string | number)[], standIns: boolean): void {
  const last = path.at(-1);
  let here = root;
  for (const step of path.slice(0, -1)) {
    if (typeof here !== "object" || here === null) return;
    here = (here as Record<string | number, unknown>)[step];
  }
  if (last === undefined) return;
  if (!isRecord(here)) return;
  const standIn = standIns && Object.hasOwn(STAND_INS, String(last)) ? STAND_INS[String(last)]?.(path, here) : undefined;
  if (standIn === undefined) delete here[String(last)];
  else here[String(last)] = standIn;
}

/** For required keys that are missing or faulty: something harmless, so that the rest of the resource can still be judged. */
const STAND_INS: Record<string, (path: readonly (string | number)[], parent: Readonly<Record<string, unknown>>) => unknown> = {
  name: (path) => `faulty-${path.filter((step) => typeof step === "number").join("-")}`,
  clusters: () => ({ selector: {} }),
  selector: () => ({}),
  sourceRef: () => ({ kind: "ApplicationSet", name: "faulty" }),
  operator: (_path, parent) => (Array.isArray(parent["values"]) && parent["values"].length > 0 ? "NotIn" : "Exists"),
};
