import { BoundedMap } from "../../base/bounded.ts";
import { isRecord, recordOf } from "../../base/is-record.ts";
import { nearest } from "../../base/nearest.ts";
import type { Finding, Path, Problem } from "../../reasons/problems/problem.ts";
import type { NotifyRule } from "../notifications.ts";
import {
  type CommandPolicy,
  commandPolicy,
  OPEN_POLICY,
  type RepoBounds,
  type RepoConfig,
  repoBounds,
  repoConfigSchema,
} from "../repo-config.ts";
import type { Rollout } from "../rollout.ts";
import { checkLimits, checkWindows } from "../rules/pace.ts";
import { checkPins, checkRelease } from "../rules/pins.ts";
import { type Placed, validate } from "./validate.ts";
import { readYaml, SIZE_OF_SETTINGS, type Source } from "./yaml.ts";

/** What `.github/stagecoach.yaml` says of rollouts. */
export interface RepoConfigRollouts {
  file: string;
  mode?: Rollout["mode"] | undefined;
  /** By the rollout's name: plain data, already valid. */
  byName: ReadonlyMap<string, Placed>;
}

export const NO_CONFIG: RepoConfigRollouts = { file: ".github/stagecoach.yaml", byName: new Map() };

interface ParsedRepoConfig {
  rollouts: RepoConfigRollouts;
  /** Worth nothing where there is an error: then nobody can tell who may. */
  policy: CommandPolicy;
  /** Worth nothing where there is an error: then nobody can tell what is frozen. */
  bounds: RepoBounds;
  notifications: Notifications;
  problems: Problem[];
}

interface Notifications {
  rules: readonly NotifyRule[];
  place?(finding: Finding): Problem;
}

/** What is longer is refused without being read. */
const LONGEST_KEPT = SIZE_OF_SETTINGS.kibibytes * 1024 + 1000;
/** Read lately: each round asks for them several times, and nearly no commit changes them. */
const READ = new BoundedMap<string, ParsedRepoConfig>(16);

/** Reads `.github/stagecoach.yaml`; null where the repo has none. With an error in it no rollout may start, so callers must look at `problems`. */
export function parseRepoConfig(text: string | null, file: string): ParsedRepoConfig {
  const key = `${file}\n${text ?? ""}`;
  const parsed = READ.get(key) ?? parsedConfig(text ?? "", file);
  if (key.length <= LONGEST_KEPT) READ.set(key, parsed);
  return parsed;
}

function parsedConfig(text: string, file: string): ParsedRepoConfig {
  const { sources, problems } = readYaml(text, file, SIZE_OF_SETTINGS);
  const [source, second] = sources;
  if (second !== undefined) problems.push(second.place({ code: "SEVERAL_DOCUMENTS", path: [] }));
  const none = { rollouts: { ...NO_CONFIG, file }, policy: OPEN_POLICY, bounds: { freezes: [] }, notifications: { rules: [] }, problems };
  if (source === undefined) return none;
  const { value, findings } = validate(repoConfigSchema, source.data);
  const ruled = value === undefined ? [] : rulesOf(value);
  problems.push(...[...findings, ...ruled].map((finding) => source.place(finding)));
  if (value === undefined) return none;
  const byName = placedByName(source, Object.keys(value.rollouts));
  const notifications: Notifications = { rules: value.notifications, place: (finding) => source.place(finding) };
  return { rollouts: { file, mode: value.mode, byName }, policy: commandPolicy(value), bounds: repoBounds(value), notifications, problems };
}

function rulesOf({ freezes, limits, rollouts }: RepoConfig): Finding[] {
  const ofRollouts = Object.entries(rollouts).flatMap(([name, { release, pins, delivery }]) => [
    ...(release === undefined ? [] : checkRelease(release, ["rollouts", name, "release"])),
    ...checkPins(pins ?? [], release, delivery?.strategy ?? "PullRequest", ["rollouts", name, "pins"]),
  ]);
  return [...checkWindows(freezes, ["freezes"]), ...checkLimits(limits, ["limits"]), ...ofRollouts];
}

/** Settings for rollouts that no file declares: mostly a name misspelt, which would be passed over in silence. */
export function unusedSettings({ byName }: RepoConfigRollouts, names: readonly string[]): Problem[] {
  const unused = [...byName].filter(([name]) => !names.includes(name));
  return unused.map(([name, { place }]) => {
    const data = { name, known: names.slice(0, 10), near: nearest(name, names) };
    return place({ code: "UNKNOWN_ROLLOUT", ...data, severity: "warning", path: [], atKey: true });
  });
}

/** Rollouts and stages that notifications, freezes and limits name and no file declares. `stages`: undefined where they cannot be read. */
export function unusedNames(
  { notifications: { rules, place }, bounds: { freezes, limits } }: Pick<ParsedRepoConfig, "notifications" | "bounds">,
  declared: readonly { name: string; stages: readonly string[] | undefined }[],
): Problem[] {
  if (place === undefined) return [];
  return [
    ...strangersIn(["notifications"], rules, place, declared),
    ...strangersIn(["freezes"], freezes, place, declared),
    ...strangersIn(["limits", "selected"], limits?.selected ?? [], place, declared),
  ];
}

function strangersIn(
  list: Path,
  rules: readonly { rollouts?: readonly string[] | undefined; stages?: readonly string[] | undefined }[],
  place: (finding: Finding) => Problem,
  declared: readonly { name: string; stages: readonly string[] | undefined }[],
): Problem[] {
  const names = declared.map(({ name }) => name);
  return rules.flatMap(({ rollouts, stages: wanted = [] }, i) => {
    const own = declared.filter(({ name }) => rollouts?.includes(name) !== false);
    const stages = own.every((one) => one.stages !== undefined) ? [...new Set(own.flatMap((one) => one.stages ?? []))] : undefined;
    const misnamed = <Code extends "UNKNOWN_ROLLOUT" | "UNKNOWN_STAGE">(
      code: Code,
      given: readonly string[],
      known: readonly string[],
      key: string,
    ) =>
      given.flatMap((name, j) => {
        const data = { name, known: known.slice(0, 10), near: nearest(name, known) };
        const path = [...list, i, key, j];
        return known.includes(name) ? [] : [place({ code, ...data, severity: "warning", path } as Finding)];
      });
    return [
      ...misnamed("UNKNOWN_ROLLOUT", rollouts ?? [], names, "rollouts"),
      ...(stages === undefined || own.length === 0 ? [] : misnamed("UNKNOWN_STAGE", wanted, stages, "stages")),
    ];
  });
}

function placedByName(source: Source, names: readonly string[]): Map<string, Placed> {
  const raw = recordOf(recordOf(source.data)["rollouts"]);
  const byName = new Map<string, Placed>();
  for (const name of names) {
    const data = raw[name];
    if (isRecord(data))
      byName.set(name, { data, place: (finding) => source.place({ ...finding, path: ["rollouts", name, ...finding.path] }) });
  }
  return byName;
}
