import { isRecord } from "../../base/is-record.ts";
import { nearest } from "../../base/nearest.ts";
import { type Finding, type Problem, show } from "../../base/problem.ts";
import type { Rollout } from "../rollout.ts";
import { RULES } from "../rules/rules.ts";
import { ANCESTOR_API_VERSIONS, ANCESTOR_KINDS, API_VERSION, KIND, resourceSchema } from "../schema.ts";
import { ancestorSchema, checkAncestor, modernise } from "./ancestor.ts";
import { NO_CONFIG, type RepoConfigRollouts } from "./config.ts";
import { toRollout } from "./rollout.ts";
import { newFindings, type Placed, validate } from "./validate.ts";
import { dotted } from "./walk.ts";
import { readYaml, type Source } from "./yaml.ts";

export type { Problem } from "../../base/problem.ts";
export { NO_CONFIG, parseRepoConfig, type RepoConfigRollouts } from "./config.ts";

export interface ParsedRollouts {
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
    problems.push({
      code: "NOT_A_ROLLOUT",
      severity: "error",
      message: "the file is empty",
      hint: "write a rollout, or remove the file",
      file,
      line: 1,
      column: 1,
      path: [],
    });
  }
  for (const source of sources) {
    const read = readOne(source, overrides);
    problems.push(...read.problems);
    if (read.rollout !== undefined && !read.problems.some((problem) => problem.severity === "error")) rollouts.push(read.rollout);
  }
  problems.sort((a, b) => Number(b.file === file) - Number(a.file === file) || a.line - b.line || a.column - b.column);
  return { rollouts, problems };
}

interface ReadOne {
  rollout?: Rollout;
  problems: Problem[];
}

function readOne(source: Source, overrides: RepoConfigRollouts): ReadOne {
  const notOurs = whyNotOurs(source.data);
  if (notOurs !== undefined || !isRecord(source.data)) {
    return {
      problems: [
        source.place(notOurs ?? { code: "NOT_A_ROLLOUT", message: "not a rollout", hint: `write apiVersion: ${API_VERSION}`, path: [] }),
      ],
    };
  }
  const problems: Problem[] = [];
  const isAncestor = source.data["apiVersion"] !== API_VERSION;
  let data = source.data;
  const known: Finding[] = [];
  if (isAncestor) {
    known.push(...validate(ancestorSchema, data).findings.map(saysWhereItWorks), ...checkAncestor(data));
    data = modernise(data);
  }
  const added = addSettings(data, source, isAncestor, overrides);
  problems.push(...added.problems);
  const checked = validate(resourceSchema, added.data);
  // What modernising made cannot be faulty in new ways: the ancestor's own schema has spoken of it.
  if (isAncestor)
    known.push(
      ...checked.findings.filter(
        (finding) => finding.path[1] !== "stages" && finding.path[1] !== "sourceRef" && finding.path[0] !== "metadata",
      ),
    );
  else known.push(...checked.findings);
  const ruled = checked.value === undefined ? [] : RULES.flatMap((rule) => rule(checked.value as NonNullable<typeof checked.value>));
  for (const finding of [...known, ...newFindings(ruled, known)]) problems.push(placeOf(added.from, source, finding));
  if (checked.value === undefined) return { problems };
  const rollout = toRollout(checked.value, source.file, overrides.mode ?? "Propose");
  problems.push(...whatIsMissing(rollout, source, isAncestor));
  return { rollout, problems };
}

function whyNotOurs(data: unknown): Finding | undefined {
  const finding = (message: string, hint: string, path: string[] = []): Finding => ({ code: "NOT_A_ROLLOUT", message, hint, path });
  if (!isRecord(data))
    return finding(
      `not a rollout: a ${Array.isArray(data) ? "list" : typeof data}`,
      `a rollout is a map with apiVersion: ${API_VERSION} and kind: ${KIND}`,
    );
  const { apiVersion, kind } = data;
  if (apiVersion === undefined && kind === undefined)
    return finding("not a rollout: it has neither apiVersion nor kind", `a rollout has apiVersion: ${API_VERSION} and kind: ${KIND}`);
  if (apiVersion === API_VERSION && kind === KIND) return undefined;
  if (typeof apiVersion === "string" && ANCESTOR_API_VERSIONS.includes(apiVersion)) {
    return typeof kind === "string" && ANCESTOR_KINDS.includes(kind)
      ? undefined
      : finding(`not a rollout: kind ${show(kind)}`, `${apiVersion} has ${ANCESTOR_KINDS.join(" and ")}`, ["kind"]);
  }
  if (apiVersion === API_VERSION) return finding(`not a rollout: kind ${show(kind)}`, `${API_VERSION} has only ${KIND}`, ["kind"]);
  const versions = [API_VERSION, ...ANCESTOR_API_VERSIONS];
  const near = typeof apiVersion === "string" ? nearest(apiVersion, versions) : undefined;
  const what =
    typeof apiVersion === "string" && typeof kind === "string"
      ? `${kind} of ${apiVersion}`
      : `apiVersion ${show(apiVersion)}, ${kind === undefined ? "no kind" : `kind ${show(kind)}`}`;
  return finding(
    `not a rollout: ${what}`,
    near === undefined ? `a rollout has apiVersion: ${API_VERSION}; keep other things out of rollouts/` : `did you mean ${near}?`,
    ["apiVersion"],
  );
}

const OURS = new Set(Object.keys(resourceSchema.shape.spec.shape));

function saysWhereItWorks(finding: Finding): Finding {
  const name = String(finding.path.at(-1));
  if (finding.code !== "UNKNOWN_KEY" || !finding.hint.startsWith("known keys")) return finding;
  const stageKeys = Object.keys(resourceSchema.shape.spec.shape.stages.element.shape);
  if (!OURS.has(name) && !stageKeys.includes(name)) return finding;
  return { ...finding, hint: `${API_VERSION} has "${name}": change apiVersion to it to use it` };
}

type Origin = "annotation" | Placed;

interface WithSettings {
  data: Record<string, unknown>;
  /** Where the keys of `spec` that are not the resource's own came from. */
  from: Map<string, Origin>;
  problems: Problem[];
}

const ANNOTATED = ["release", "pins", "mode"] as const;
const FROM_CONFIG = ["release", "pins", "mode", "delivery"] as const;

/** Adds what annotations (of the ancestor's resources) and the repo's settings say. Said twice is an error. */
function addSettings(data: Record<string, unknown>, source: Source, isAncestor: boolean, overrides: RepoConfigRollouts): WithSettings {
  const metadata = isRecord(data["metadata"]) ? data["metadata"] : {};
  const annotations = isAncestor && isRecord(metadata["annotations"]) ? metadata["annotations"] : {};
  const spec: Record<string, unknown> = { ...(isRecord(data["spec"]) ? data["spec"] : {}) };
  const from = new Map<string, Origin>();
  const problems: Problem[] = [];
  for (const name of ANNOTATED) {
    const text = annotations[`stagecoach.dev/${name}`];
    if (typeof text !== "string") continue;
    const read = readYaml(text, source.file);
    const path = ["metadata", "annotations", `stagecoach.dev/${name}`];
    for (const { code, message, hint } of read.problems)
      problems.push(source.place({ code, message: `in the annotation: ${message}`, hint, path }));
    if (read.sources[0] !== undefined) {
      spec[name] = read.sources[0].data;
      from.set(name, "annotation");
    }
  }
  const config = typeof metadata["name"] === "string" ? overrides.byName.get(metadata["name"]) : undefined;
  for (const name of FROM_CONFIG) {
    if (config?.data[name] === undefined) continue;
    if (spec[name] !== undefined) {
      problems.push(
        config.place({
          code: "SAID_TWICE",
          message: `${name} stands here and in ${source.file}`,
          hint: "keep one of the two",
          path: [name],
          atKey: true,
        }),
      );
      continue;
    }
    spec[name] = config.data[name];
    from.set(name, config);
  }
  return { data: "spec" in data ? { ...data, spec } : data, from, problems };
}

function placeOf(from: ReadonlyMap<string, Origin>, source: Source, finding: Finding): Problem {
  const origin = finding.path[0] === "spec" ? from.get(String(finding.path[1])) : undefined;
  if (origin === undefined) return source.place(finding);
  if (origin !== "annotation") return origin.place({ ...finding, path: finding.path.slice(1) });
  const message = `in the annotation, ${dotted(finding.path.slice(1))}: ${finding.message}`;
  return source.place({
    ...finding,
    message,
    path: ["metadata", "annotations", `stagecoach.dev/${String(finding.path[1])}`],
    atKey: false,
  });
}

/** A rollout without a release or pins can be linted and its clusters planned; it says what is missing to run. */
function whatIsMissing(rollout: Rollout, source: Source, isAncestor: boolean): Problem[] {
  const missing: string[] = [];
  if (rollout.release === undefined) missing.push("release (which version)");
  if (rollout.pins.length === 0) missing.push("pins (where it is written)");
  if (missing.length === 0) return [];
  const where = isAncestor
    ? `annotations stagecoach.dev/release and stagecoach.dev/pins, or rollouts.${rollout.name} in .github/stagecoach.yaml`
    : `spec.release and spec.pins, or rollouts.${rollout.name} in .github/stagecoach.yaml`;
  return [
    source.place({
      code: "CANNOT_RUN",
      severity: "warning",
      message: `rollout ${rollout.name} can be planned but not run: it has no ${missing.join(" and no ")}`,
      hint: `say it in ${where}`,
      path: ["metadata", "name"],
    }),
  ];
}
