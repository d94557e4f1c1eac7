import { BoundedMap } from "../../base/bounded.ts";
import { isRecord, recordOf } from "../../base/is-record.ts";
import type { Path, Problem } from "../../reasons/problems/problem.ts";
import { SETTINGS_FILE } from "../repo-config.ts";
import { readYaml, type Source } from "./yaml.ts";

/** Files as they were read last, by name: one has many problems at times, and reading takes as long as the file is large. */
const READ = new BoundedMap<string, { text: string; sources: readonly Source[] }>(4);

/**
 * Gives a problem that knows only its path in a rollout its line and column. What stands in the repo's settings instead
 * (`pins`, `release`) is found there. `read` gives a file's text; where nothing is found the problem stays as it is.
 */
export function locateInRollout(problem: Problem, rollout: { name: string; file: string }, read: (file: string) => string | null): Problem {
  const [root, field, ...rest] = problem.path;
  const ofSpec = root === "spec" ? field : undefined;
  const placed = (source: Source, path: Path): Problem => {
    const { file, line, column } = source.place({ ...problem, severity: "warning", path });
    return { ...problem, file, line, column };
  };
  const sourcesOf = (file: string) => sourcesIn(read(file) ?? "", file);
  for (const source of sourcesOf(rollout.file)) {
    const { metadata, spec } = recordOf(source.data);
    if (!isRecord(metadata) || metadata["name"] !== rollout.name) continue;
    if (ofSpec === undefined || recordOf(spec)[ofSpec] !== undefined) return placed(source, problem.path);
    const annotation = `stagecoach.dev/${ofSpec}`;
    if (recordOf(metadata["annotations"])[annotation] !== undefined) return placed(source, ["metadata", "annotations", annotation]);
  }
  const [settings] = ofSpec === undefined ? [] : sourcesOf(SETTINGS_FILE);
  return settings === undefined ? problem : placed(settings, ["rollouts", rollout.name, ofSpec ?? "", ...rest]);
}

function sourcesIn(text: string, file: string): readonly Source[] {
  const last = READ.get(file);
  if (last?.text === text) return last.sources;
  const { sources } = readYaml(text, file);
  READ.set(file, { text, sources });
  return sources;
}
