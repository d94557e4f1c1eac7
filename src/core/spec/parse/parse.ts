/** Reads the rollouts of a file of the config repo: every problem at once, each with its place. Called by whatever reads a commit, and by lint. */
import { isRecord, recordOf } from "../../base/is-record.ts";
import { nearest } from "../../base/nearest.ts";
import { show } from "../../base/problem.ts";
import { type Finding, type Problem, type ProblemData, problemIn } from "../../reasons/problems/problem.ts";
import type { Rollout } from "../rollout.ts";
import { checkResource } from "../rules/rules.ts";
import { ANCESTOR_API_VERSIONS, ANCESTOR_KINDS, KIND, ROLLOUT_API_VERSION, resourceSchema } from "../schema.ts";
import { ancestorSchema, checkAncestor, modernise } from "./ancestor.ts";
import { NO_CONFIG, type RepoConfigRollouts } from "./config.ts";
import { toRollout } from "./rollout.ts";
import { newFindings, validate } from "./validate.ts";
import { readYaml, type Source } from "./yaml.ts";

interface ParsedRollouts {
  /** Those without an error, in the order of the file. */
  rollouts: Rollout[];
  problems: Problem[];
}

/**
 * Reads the rollouts of one file. Every problem is collected at once, with its place; a resource with an error gives no
 * rollout. `overrides` is what the repo's settings say of rollouts whose own resource cannot (`parseRepoConfig`).
 */
export function parseRollouts(text: string, file: string, overrides: RepoConfigRollouts = NO_CONFIG): ParsedRollouts {
  const { sources, problems } = readYaml(text, file);
  const rollouts: Rollout[] = [];
  if (sources.length === 0 && problems.length === 0) {
    problems.push(problemIn(file, { code: "NOT_A_ROLLOUT", kind: "Empty" }));
  }
  for (const [at, source] of sources.entries()) {
    const read = readOne(source, overrides, at > 0);
    problems.push(...read.problems);
    if (read.rollout !== undefined && !read.problems.some((problem) => problem.severity === "error")) rollouts.push(read.rollout);
  }
  problems.sort((a, b) => Number(b.file === file) - Number(a.file === file) || a.line - b.line || a.column - b.column);
  return { rollouts, problems };
}

/** `follows`: another document stands before it. */
function readOne(source: Source, overrides: RepoConfigRollouts, follows: boolean): { rollout?: Rollout; problems: Problem[] } {
  const { data } = source;
  if (!isRecord(data)) {
    const is = Array.isArray(data) ? "list" : typeof data;
    return { problems: [source.place({ code: "NOT_A_ROLLOUT", kind: "NoMap", is, path: [] })] };
  }
  const notOurs = whyNotOurs(data, follows);
  if (notOurs !== undefined) return { problems: [source.place(notOurs)] };
  const isAncestor = data["apiVersion"] !== ROLLOUT_API_VERSION;
  const added = addSettings(isAncestor ? modernise(data) : data, source, isAncestor, overrides);
  const { value, findings } = validate(resourceSchema, added.data);
  // What modernising made cannot be faulty in new ways: the ancestor's own schema has spoken of it.
  const isNew = ({ path: [root, field] }: Finding) => root !== "metadata" && field !== "stages" && field !== "sourceRef";
  const known = isAncestor ? [...ancestorFindings(data), ...findings.filter(isNew)] : findings;
  const ruled = (value === undefined ? [] : newFindings(checkResource(value), known)).filter(
    ({ code }) => code !== "STAGE_SHADOWED" || !known.some(saysWhom),
  );
  const placer = ({ path: [root, field] }: Finding) => (root === "spec" ? added.from.get(String(field)) : undefined) ?? source.place;
  const problems = [...added.problems, ...[...known, ...ruled].map((finding) => placer(finding)(finding))];
  if (value === undefined) return { problems };
  const rollout = toRollout(value, source.file, overrides.mode ?? "Propose");
  // What is only mistyped is not missing.
  const mistyped = problems.map((problem) => (problem.code === "UNKNOWN_KEY" && "near" in problem ? problem.near : undefined));
  return { rollout, problems: [...problems, ...whatIsMissing(rollout, source, { isAncestor, mistyped })] };
}

/** Whether a finding is of what a stage takes: that is not known then, nor what is left to later ones. */
function saysWhom({ code, path: [, field, , key] }: Finding): boolean {
  return field === "stages" && (code === "UNKNOWN_KEY" || ["maxClusters", "maxTargets", "clusters", "targets"].includes(String(key)));
}

function whyNotOurs({ apiVersion, kind }: Record<string, unknown>, follows: boolean): Finding | undefined {
  const finding = (data: ProblemData<"NOT_A_ROLLOUT">, path: string[] = []): Finding => ({ code: "NOT_A_ROLLOUT", ...data, path });
  const otherKind = (version: string, known: readonly string[]) =>
    finding({ kind: "OtherKind", apiVersion: version, given: show(kind), known }, ["kind"]);
  if (apiVersion === undefined && kind === undefined) return finding({ kind: "NoVersion", follows });
  if (apiVersion === ROLLOUT_API_VERSION) return kind === KIND ? undefined : otherKind(apiVersion, [KIND]);
  if (typeof apiVersion === "string" && ANCESTOR_API_VERSIONS.includes(apiVersion))
    return typeof kind === "string" && ANCESTOR_KINDS.includes(kind) ? undefined : otherKind(apiVersion, ANCESTOR_KINDS);
  const near = typeof apiVersion === "string" ? nearest(apiVersion, [ROLLOUT_API_VERSION, ...ANCESTOR_API_VERSIONS]) : undefined;
  if (typeof apiVersion === "string" && typeof kind === "string")
    return finding({ kind: "OtherObject", apiVersion, given: kind, near }, ["apiVersion"]);
  const given = kind === undefined ? undefined : show(kind);
  return finding({ kind: "OddVersion", apiVersion: show(apiVersion), given, near }, ["apiVersion"]);
}

function ancestorFindings(data: Record<string, unknown>): Finding[] {
  const { spec } = resourceSchema.shape;
  const ours = [...Object.keys(spec.shape), ...Object.keys(spec.shape.stages.element.shape)];
  const findings = validate(ancestorSchema, data).findings.map((finding) => {
    const isOurs = finding.code === "UNKNOWN_KEY" && "known" in finding && finding.near === undefined && ours.includes(finding.key);
    return isOurs ? { ...finding, elsewhere: ROLLOUT_API_VERSION } : finding;
  });
  return [...findings, ...checkAncestor(data)];
}

interface WithSettings {
  data: Record<string, unknown>;
  /** How findings of the keys of `spec` that are not the resource's own are placed. */
  from: Map<string, (finding: Finding) => Problem>;
  problems: Problem[];
}

const ANNOTATED = ["release", "pins", "mode"] as const;
const FROM_CONFIG = ["release", "pins", "mode", "delivery"] as const;

/** Adds what annotations (of the ancestor's resources) and the repo's settings say. Said twice is an error. */
function addSettings(data: Record<string, unknown>, source: Source, isAncestor: boolean, overrides: RepoConfigRollouts): WithSettings {
  const metadata = recordOf(data["metadata"]);
  const annotations = isAncestor ? recordOf(metadata["annotations"]) : {};
  const spec = { ...recordOf(data["spec"]) };
  const from: WithSettings["from"] = new Map();
  const problems: Problem[] = [];
  for (const name of ANNOTATED) {
    const text = annotations[`stagecoach.dev/${name}`];
    if (typeof text !== "string") continue;
    const read = readYaml(text, source.file);
    const path = ["metadata", "annotations", `stagecoach.dev/${name}`];
    for (const { severity: _, ...found } of read.problems) problems.push(source.place({ ...found, path, inside: [] }));
    if (read.sources[0] === undefined) continue;
    spec[name] = read.sources[0].data;
    from.set(name, (finding) => source.place({ ...finding, inside: finding.path.slice(1), path, atKey: false }));
  }
  const config = typeof metadata["name"] === "string" ? overrides.byName.get(metadata["name"]) : undefined;
  for (const name of FROM_CONFIG) {
    if (config?.data[name] === undefined) continue;
    if (spec[name] !== undefined) {
      problems.push(config.place({ code: "SAID_TWICE", key: name, also: source.file, path: [name], atKey: true }));
      continue;
    }
    spec[name] = config.data[name];
    from.set(name, (finding) => config.place({ ...finding, path: finding.path.slice(1) }));
  }
  return { data: "spec" in data ? { ...data, spec } : data, from, problems };
}

/** A rollout without a release or pins can be linted and its clusters planned; it says what is missing to run. */
function whatIsMissing(
  rollout: Rollout,
  source: Source,
  { isAncestor, mistyped }: { isAncestor: boolean; mistyped: readonly (string | undefined)[] },
): Problem[] {
  const { release, pins } = rollout;
  const isThere = { release: release !== undefined, pins: pins.length > 0 };
  const lacks = (["release", "pins"] as const).filter((key) => !isThere[key] && !mistyped.includes(key));
  if (lacks.length === 0) return [];
  const data = { name: rollout.name, lacks, ancestor: isAncestor };
  return [source.place({ code: "CANNOT_RUN", ...data, severity: "warning", path: ["metadata", "name"] })];
}
