import { isRecord } from "../../base/is-record.ts";
import { nearest } from "../../base/nearest.ts";
import type { Finding, Problem } from "../../reasons/problem.ts";
import { type CommandPolicy, commandPolicy, OPEN_POLICY, type RepoBounds, repoBounds, repoConfigSchema } from "../repo-config.ts";
import type { Rollout } from "../rollout.ts";
import { checkPins, checkRelease } from "../rules/pins.ts";
import { checkWindows } from "../rules/windows.ts";
import { type Placed, validate } from "./validate.ts";
import { readYaml, type Source } from "./yaml.ts";

/** What `.github/stagecoach.yaml` says of rollouts. */
export interface RepoConfigRollouts {
  file: string;
  mode?: Rollout["mode"];
  /** By the rollout's name: plain data, already valid. */
  byName: ReadonlyMap<string, Placed>;
}

export const NO_CONFIG: RepoConfigRollouts = { file: ".github/stagecoach.yaml", byName: new Map() };

export interface ParsedRepoConfig {
  rollouts: RepoConfigRollouts;
  /** Worth nothing where there is an error: then nobody can tell who may. */
  policy: CommandPolicy;
  /** Worth nothing where there is an error: then nobody can tell what is frozen. */
  bounds: RepoBounds;
  problems: Problem[];
}

/** Reads `.github/stagecoach.yaml`; null where the repo has none. With an error in it no rollout may start, so callers must look at `problems`. */
export function parseRepoConfig(text: string | null, file: string): ParsedRepoConfig {
  const none = { ...NO_CONFIG, file };
  if (text === null) return { rollouts: none, policy: OPEN_POLICY, bounds: { freezes: [] }, problems: [] };
  const { sources, problems } = readYaml(text, file);
  const [source, second] = sources;
  if (second !== undefined) problems.push(second.place({ code: "SEVERAL_DOCUMENTS", path: [] }));
  if (source === undefined) return { rollouts: none, policy: OPEN_POLICY, bounds: { freezes: [] }, problems };
  const checked = validate(repoConfigSchema, source.data);
  const findings = [...checked.findings];
  if (checked.value !== undefined) {
    findings.push(...checkWindows(checked.value.freezes, ["freezes"]));
    for (const [name, { release, pins, delivery }] of Object.entries(checked.value.rollouts)) {
      const path = ["rollouts", name];
      if (release !== undefined) findings.push(...checkRelease(release, [...path, "release"]));
      if (pins !== undefined) findings.push(...checkPins(pins, release, delivery?.strategy ?? "PullRequest", [...path, "pins"]));
    }
  }
  problems.push(...findings.map((finding: Finding) => source.place(finding)));
  const mode = checked.value?.mode;
  const policy = checked.value === undefined ? OPEN_POLICY : commandPolicy(checked.value);
  return {
    rollouts: { file, ...(mode === undefined ? {} : { mode }), byName: placed(source, checked.value?.rollouts ?? {}) },
    policy,
    bounds: checked.value === undefined ? { freezes: [] } : repoBounds(checked.value),
    problems,
  };
}

/** Settings for rollouts that no file declares: mostly a name misspelt, which would be passed over in silence. */
export function unusedSettings({ byName }: RepoConfigRollouts, names: readonly string[]): Problem[] {
  const problems: Problem[] = [];
  for (const [name, { place }] of byName) {
    if (names.includes(name)) continue;
    const data = { name, known: names.slice(0, 10), near: nearest(name, names) };
    problems.push(place({ code: "UNKNOWN_ROLLOUT", ...data, severity: "warning", path: [], atKey: true }));
  }
  return problems;
}

function placed(source: Source, rollouts: Record<string, unknown>): Map<string, Placed> {
  const raw = isRecord(source.data) && isRecord(source.data["rollouts"]) ? source.data["rollouts"] : {};
  const byName = new Map<string, Placed>();
  for (const name of Object.keys(rollouts)) {
    const data = raw[name];
    if (isRecord(data))
      byName.set(name, { data, place: (finding) => source.place({ ...finding, path: ["rollouts", name, ...finding.path] }) });
  }
  return byName;
}
