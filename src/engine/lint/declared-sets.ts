/** Which file declares a rollout's ApplicationSet, and what keeps lint from saying so: none, several, or one that is broken. */
import { isRecord } from "../../core/base/is-record.ts";
import type { RepoFiles } from "../../core/base/repo-files.ts";
import { type Plan, targetsOf } from "../../core/plan/plan-types.ts";
import type { Problem } from "../../core/reasons/problems/problem.ts";
import type { RenderProblem } from "../../core/reasons/render.ts";
import { readYaml } from "../../core/spec/parse/yaml.ts";
import type { Slip } from "../../core/spec/parse/yaml-indent.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import { type ApplicationSetInGit, findApplicationSets, isPatch, setsDeclaredIn } from "../config-repo/appset-in-git.ts";
import { chartOf, chartTemplate, makerOf } from "../config-repo/live-set.ts";
import { chooseSet, setsByPlane } from "../config-repo/plane-sets.ts";
import { setFiles, setFilesOfJson } from "../config-repo/set-files.ts";
import type { Snapshot } from "../config-repo/snapshot.ts";
import { applicationSeen, type Planes } from "../resolve/fleet.ts";
import { locateIn } from "../resolve/plan-over.ts";
import { setsOfSource } from "../resolve/source-sets.ts";
import type { SetPart } from "./gather.ts";
import { AT_SOURCE } from "./gathered.ts";

interface Declared {
  set: ApplicationSetInGit | undefined;
  problems: Problem[];
}

/** `live`: ApplicationSets as they live, where they are known. Several control planes may follow a file each. */
export function declaredSet(rollout: Rollout, files: RepoFiles, live: readonly unknown[] = []): Declared {
  const { source } = rollout;
  const found = setsDeclaredIn(files, source);
  // Where one file declares it, another of that name is none of it, unless each control plane has its own.
  const isDeclared = source.controlPlanes.length <= 1 && found.some(({ object }) => !isPatch(object));
  const problems = isDeclared ? [] : brokenFiles(files, source.name);
  const pinned = new Set(rollout.pins.flatMap((pin) => ("file" in pin && !pin.file.includes("{{") ? [pin.file] : [])));
  const lives = live.find((one) => isNamed(one, source));
  const set = chooseSet(found, pinned, isRecord(lives) ? lives["spec"] : undefined);
  if (set === undefined && found.length > 1 && source.controlPlanes.length <= 1) problems.push(ambiguous(rollout, files, found));
  const fed = found.length === 0 ? fedSet(rollout, files) : undefined;
  if (fed !== undefined) problems.push(fed);
  return { set: set ?? (source.controlPlanes.length > 1 ? found[0] : undefined), problems };
}

/** A chart makes the set, and pins are among what it is made from: what comes of an edit is not known before it is merged. */
function fedSet({ source, pins, file }: Rollout, files: RepoFiles): Problem | undefined {
  const template = source.unverified === true ? undefined : chartTemplate(files, source.name);
  const chart = template === undefined ? undefined : chartOf(files, template);
  const pin = pins.find((one) => "file" in one && chart !== undefined && one.file.startsWith(chart === "" ? "values" : `${chart}/`));
  if (template === undefined || pin === undefined || !("file" in pin)) return undefined;
  const reason = { code: "SET_FED", set: source.name, template, pinned: pin.file } as const;
  return locateIn({ source, pins, file } as Rollout, files, { ...reason, severity: "warning", file, line: 1, column: 1, path: AT_SOURCE });
}

/** Several files declare the set, and neither pins nor what lives tells which is meant. */
function ambiguous(rollout: Rollout, files: RepoFiles, found: readonly ApplicationSetInGit[]): Problem {
  const reason = { code: "SET_AMBIGUOUS", set: rollout.source.name, files: found.map(({ file }) => file) } as const;
  return locateIn(rollout, files, { ...reason, severity: "error", file: rollout.file, line: 1, column: 1, path: AT_SOURCE });
}

function isNamed(object: unknown, { name, namespace }: Rollout["source"]): boolean {
  const metadata = isRecord(object) ? object["metadata"] : undefined;
  return isRecord(metadata) && metadata["name"] === name && (metadata["namespace"] ?? namespace) === namespace;
}

const KIND = /^kind:\s*["']?ApplicationSet\b|"kind"\s*:\s*"ApplicationSet"/m;

/** Files that name the set and are no YAML, or no JSON. What is still a template of Helm is none by itself. */
function brokenFiles(files: RepoFiles, name: string): Problem[] {
  // Whole, though its quote may be what is broken.
  const named = new RegExp(`\\bname["']?\\s*:\\s*["']?${name.replaceAll(/[^\w-]/g, "\\$&")}(?![\\w.-])`);
  return [...setFiles(files), ...setFilesOfJson(files)].flatMap(({ path: file, text, documents }): Problem[] => {
    if (!text.includes(name) || !KIND.test(text) || !named.test(text)) return [];
    const broken = documents().find(({ problem }) => problem !== undefined);
    if (broken?.problem === undefined || makerOf(files, file) === "helm") return [];
    const { line, column } = broken;
    const kind = file.endsWith(".json") ? "Json" : "Yaml";
    const slip = kind === "Yaml" ? slipIn(text, file) : undefined;
    if (slip !== undefined)
      return [{ ...slip.at, code: "SET_BROKEN", kind: "Slip", set: name, slip: slip.what, severity: "error", path: [] }];
    return [{ code: "SET_BROKEN", kind, set: name, said: broken.problem, severity: "error", file, line, column, path: [] }];
  });
}

/** What of a broken file was most likely mistyped, as it is told of a rollout; undefined: none of what people mistype. */
function slipIn(text: string, file: string) {
  const problem = readYaml(text, file).problems.find(({ code }) => code === "SYNTAX");
  if (problem === undefined || !("kind" in problem) || problem.kind === "Parser") return undefined;
  const { severity: _, file: __, line, column, path: ___, code: ____, ...what } = problem;
  return { at: { file, line, column }, what: what as Slip["what"] };
}

/** Whether Argo CD would not take it either, whatever it knows besides: no cluster and no repository would mend it. */
export function isRefusedByArgo(problem: RenderProblem): boolean {
  if (problem.code === "INVALID") return true;
  return problem.code === "TEMPLATE_ERROR" && problem.kind !== "Go";
}

/** The sets that a plan's Applications come from, each as the first control plane follows it; one of which nobody can say so is a problem. */
export async function followedSets(
  all: Planes,
  rollout: Rollout,
  snapshot: Snapshot,
  plan: Plan,
): Promise<{ parts: SetPart[]; problems: Problem[] }> {
  const targets = targetsOf(plan);
  const likely = new Set(targets.flatMap(({ edits }) => edits.map(({ file }) => file)));
  const isOne = rollout.source.kind === "ApplicationSet" && rollout.source.name !== "";
  const makers = new Map(targets.map(({ key }) => [key, applicationSeen(all, key)?.owner?.name]));
  const keys = targets.map(({ key }) => key);
  const parts: SetPart[] = [];
  const problems: Problem[] = [];
  for (const { ref, planes } of setsOfSource(all, rollout, keys)) {
    const own = targets.filter(({ key }) => isOne || makers.get(key) === ref.name);
    const sets = await setsByPlane(snapshot, { ref, planes, likely, edits: own.flatMap(({ edits }) => edits) });
    const [set] = sets.values();
    const found = set === undefined ? await findApplicationSets(snapshot, ref) : [];
    if (found.length > 1) problems.push(await snapshot.with((files) => ambiguous({ ...rollout, source: ref }, files, found)));
    parts.push({ source: ref, set, edits: new Map(own.map(({ application, edits }) => [application, edits])) });
  }
  const made = new Set(parts.map(({ source }) => source.name));
  const written = targets.filter(({ key }) => !isOne && !made.has(makers.get(key) ?? ""));
  if (written.length > 0 || parts.length === 0) {
    const edits = new Map(written.map((target) => [target.application, target.edits]));
    parts.push({ source: rollout.source, set: undefined, edits });
  }
  return { parts, problems };
}
