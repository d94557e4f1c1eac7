import { isRecord, recordOf } from "../../base/is-record.ts";
import type { Path, Problem } from "../../reasons/problem.ts";
import { SETTINGS_FILE } from "../repo-config.ts";
import { readYaml, type Source } from "./yaml.ts";

/** Files as they were read last, with the text that was read: reading takes as long as the file is large, placing next to nothing. */
export type SourcesRead = Map<string, { text: string; sources: readonly Source[] }>;

/**
 * Gives a problem that knows only its path in a rollout its line and column. What stands in the repo's settings instead
 * (`pins`, `release`) is found there. `read` gives a file's text; where nothing is found the problem stays as it is.
 * `known`: for whoever has several problems of a file, which is read once then.
 */
export function locateInRollout(
  problem: Problem,
  rollout: { name: string; file: string },
  read: (file: string) => string | null,
  known: SourcesRead = new Map(),
): Problem {
  const [root, field, ...rest] = problem.path;
  const ofSpec = root === "spec" ? field : undefined;
  const placed = (source: Source, path: Path): Problem => {
    const { file, line, column } = source.place({ ...problem, severity: "warning", path });
    return { ...problem, file, line, column };
  };
  const sourcesOf = (file: string) => sourcesIn(read(file) ?? "", file, known);
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

function sourcesIn(text: string, file: string, known: SourcesRead): readonly Source[] {
  const last = known.get(file);
  if (last?.text === text) return last.sources;
  const { sources } = readYaml(text, file);
  known.set(file, { text, sources });
  return sources;
}
