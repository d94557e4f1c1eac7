import { parseTemplate } from "../../base/template.ts";
import { parseDuration } from "../../base/time.ts";
import type { Finding } from "../../reasons/problem.ts";
import type { Resource } from "../schema.ts";

type WrittenStage = Resource["spec"]["stages"][number];
type Path = (string | number)[];

/** No answer is waited for longer: a round's patience, not a person's. To wait for a person a hook answers `hold`. */
const LONGEST_TIMEOUT_MS = 60_000;

/** What a stage measures and asks must be able to be measured and asked. */
export function analysesAndHooks({ spec }: Resource): Finding[] {
  return spec.stages.flatMap((stage, i) => [
    ...checkAnalysis(stage, ["spec", "stages", i, "analysis"]),
    ...checkHooks(stage, ["spec", "stages", i, "hooks"]),
  ]);
}

function checkAnalysis({ analysis, batching }: WrittenStage, path: Path): Finding[] {
  if (analysis === undefined) return [];
  const findings: Finding[] = [];
  if (batching === "Rolling" && analysis.when.includes("AfterBatch")) {
    findings.push({ code: "ANALYSIS_ROLLING", path: [...path, "when"] });
  }
  const names = new Set<string>();
  for (const [j, arg] of analysis.args.entries()) {
    if (names.has(arg.name)) findings.push({ code: "ANALYSIS_ARG", kind: "Twice", name: arg.name, path: [...path, "args", j, "name"] });
    names.add(arg.name);
    findings.push(...checkValue(arg.value, analysis.when, [...path, "args", j, "value"]));
  }
  return findings;
}

function checkValue(value: string, when: readonly string[], path: Path): Finding[] {
  const parsed = parseTemplate(value);
  if (!parsed.ok) return [{ code: "BAD_TEMPLATE", ...parsed.fault, path }];
  const roots = parsed.parts.flatMap((part) => ("variable" in part ? [part] : []));
  const param = roots.find(({ variable }) => variable.root === "params");
  if (param !== undefined) return [{ code: "ANALYSIS_ARG", kind: "Param", variable: param.source, path }];
  const ofCluster = roots.find(({ variable }) => /^(?:cluster|application)\./.test(variable.root));
  const whole = when.filter((one) => one !== "AfterBatch");
  if (ofCluster === undefined || whole.length === 0) return [];
  return [{ code: "ANALYSIS_ARG", kind: "OfCluster", variable: ofCluster.source, whole, path }];
}

function checkHooks({ hooks }: WrittenStage, path: Path): Finding[] {
  return (["before", "after", "onFailure"] as const).flatMap((when) =>
    (hooks?.[when] ?? []).flatMap((hook, j) => checkHook(hook, [...path, when, j])),
  );
}

function checkHook({ url, timeout }: { url: string; timeout: string }, path: Path): Finding[] {
  const findings: Finding[] = [];
  const fault = badAddress(url);
  if (fault !== undefined) findings.push({ code: "HOOK_URL", fault, path: [...path, "url"] });
  const ms = parseDuration(timeout) ?? 0;
  if (ms <= 0 || ms > LONGEST_TIMEOUT_MS) findings.push({ code: "HOOK_TIMEOUT", given: timeout, path: [...path, "timeout"] });
  return findings;
}

function badAddress(url: string): "NoAddress" | "Credentials" | undefined {
  const match = /^https?:\/\/([^/?#\s]+)(?:[/?#]\S*)?$/i.exec(url);
  if (match === null) return "NoAddress";
  return match[1]?.includes("@") === true ? "Credentials" : undefined;
}
