import type { Finding } from "../../base/problem.ts";
import { parseTemplate } from "../../base/template.ts";
import { parseDuration } from "../../base/time.ts";
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
    findings.push({
      code: "ANALYSIS_ROLLING",
      message: "a rolling stage has no batch that is confirmed as a whole, so nothing can be measured AfterBatch",
      hint: "write when: [Background] or [AfterStage], or batching: Fixed",
      path: [...path, "when"],
    });
  }
  const names = new Set<string>();
  for (const [j, arg] of analysis.args.entries()) {
    if (names.has(arg.name)) {
      const message = `the argument ${arg.name} is given twice`;
      findings.push({ code: "ANALYSIS_ARG", message, hint: "keep one", path: [...path, "args", j, "name"] });
    }
    names.add(arg.name);
    findings.push(...checkValue(arg.value, analysis.when, [...path, "args", j, "value"]));
  }
  return findings;
}

function checkValue(value: string, when: readonly string[], path: Path): Finding[] {
  const parsed = parseTemplate(value);
  if (!parsed.ok) return [{ code: "BAD_TEMPLATE", message: parsed.message, hint: parsed.hint, path }];
  const roots = parsed.parts.flatMap((part) => ("variable" in part ? [part] : []));
  const param = roots.find(({ variable }) => variable.root === "params");
  if (param !== undefined) {
    const hint = "parameters of the ApplicationSet are not known during a run; cluster.labels are";
    return [{ code: "ANALYSIS_ARG", message: `{{ ${param.source} }} cannot be an analysis's argument`, hint, path }];
  }
  const ofCluster = roots.find(({ variable }) => /^(?:cluster|application)\./.test(variable.root));
  const whole = when.filter((one) => one !== "AfterBatch");
  if (ofCluster === undefined || whole.length === 0) return [];
  const message = `{{ ${ofCluster.source} }} stands for a cluster of the batch, and ${whole.join(", ")} is of no batch`;
  return [{ code: "ANALYSIS_ARG", message, hint: "measure AfterBatch, or give the argument a value of its own", path }];
}

function checkHooks({ hooks }: WrittenStage, path: Path): Finding[] {
  return (["before", "after", "onFailure"] as const).flatMap((when) =>
    (hooks?.[when] ?? []).flatMap((hook, j) => checkHook(hook, [...path, when, j])),
  );
}

function checkHook({ url, timeout }: { url: string; timeout: string }, path: Path): Finding[] {
  const findings: Finding[] = [];
  const problem = badAddress(url);
  if (problem !== undefined) {
    findings.push({
      code: "HOOK_URL",
      message: problem,
      hint: "write it whole, without a name and password: https://hooks.example.com/rollouts",
      path: [...path, "url"],
    });
  }
  const ms = parseDuration(timeout) ?? 0;
  if (ms <= 0 || ms > LONGEST_TIMEOUT_MS) {
    findings.push({
      code: "HOOK_TIMEOUT",
      message: `a hook's timeout is ${timeout}`,
      hint: "write more than 0s and at most 60s; a hook that needs longer answers hold",
      path: [...path, "timeout"],
    });
  }
  return findings;
}

function badAddress(url: string): string | undefined {
  const match = /^https?:\/\/([^/?#\s]+)(?:[/?#]\S*)?$/i.exec(url);
  if (match === null) return "a hook's url is no http or https address";
  return match[1]?.includes("@") === true ? "a hook's url holds a name or password, which would be shown to everybody" : undefined;
}
