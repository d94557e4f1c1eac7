import { isRecord } from "../../base/is-record.ts";
import type { Problem } from "../../reasons/problem.ts";
import { SETTINGS_FILE } from "../repo-config.ts";
import { readYaml } from "./yaml.ts";

/**
 * Gives a problem that knows only its path in a rollout its line and column. What stands in the repo's settings instead
 * (`pins`, `release`) is found there. `read` gives a file's text; where nothing is found the problem stays as it is.
 */
export function locateInRollout(problem: Problem, rollout: { name: string; file: string }, read: (file: string) => string | null): Problem {
  const [root, field, ...rest] = problem.path;
  const text = read(rollout.file);
  for (const source of text === null ? [] : readYaml(text, rollout.file).sources) {
    if (!isRecord(source.data) || !isRecord(source.data["metadata"]) || source.data["metadata"]["name"] !== rollout.name) continue;
    const spec = isRecord(source.data["spec"]) ? source.data["spec"] : {};
    if (root !== "spec" || field === undefined || spec[String(field)] !== undefined)
      return placed(problem, source.place({ ...problem, severity: "warning" }));
    const annotation = `stagecoach.dev/${String(field)}`;
    const annotations = isRecord(source.data["metadata"]["annotations"]) ? source.data["metadata"]["annotations"] : {};
    if (annotations[annotation] !== undefined) {
      return placed(problem, source.place({ ...problem, severity: "warning", path: ["metadata", "annotations", annotation] }));
    }
  }
  const config = root === "spec" && field !== undefined ? read(SETTINGS_FILE) : null;
  const [source] = config === null ? [] : readYaml(config, SETTINGS_FILE).sources;
  return source === undefined
    ? problem
    : placed(problem, source.place({ ...problem, severity: "warning", path: ["rollouts", rollout.name, field ?? "", ...rest] }));
}

function placed(problem: Problem, at: Problem): Problem {
  return { ...problem, file: at.file, line: at.line, column: at.column };
}
