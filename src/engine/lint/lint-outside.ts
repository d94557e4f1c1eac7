/**
 * Lint looks outside of the rollout's file, too (docs/spec.md §9.24): at the ApplicationSet in Git and what it yields, at who
 * applies it, and at the checks of the base branch. Called for a release's pull request, by `stagecoach lint` and for what onboarding proposes.
 */
import { isAutomated } from "../../core/argocd/decode/application.ts";
import { GENERATE_PATHS } from "../../core/argocd/generate-paths.ts";
import { defined } from "../../core/base/defined.ts";
import { isRecord } from "../../core/base/is-record.ts";
import { pathMatcher } from "../../core/base/path-glob.ts";
import type { RepoFiles } from "../../core/base/repo-files.ts";
import { filesOf } from "../../core/plan/plan-types.ts";
import type { Finding, Problem } from "../../core/reasons/problems/problem.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import type { Workflow } from "../config-repo/workflow-triggers.ts";
import { locateIn } from "../resolve/plan-over.ts";
import { atName } from "../resolve/source-sets.ts";
import { isRefusedByArgo } from "./declared-sets.ts";
import { isWithoutEffect, missedPaths, overrideOf } from "./edited.ts";
import { type GatherInput, gatherOutside, gatherSet, type SetPart } from "./gather.ts";
import { AT_SOURCE, type Gathered, type ParentApplication, specOf } from "./gathered.ts";
import { ignoredPins } from "./ignored-pins.ts";
import { otherWriters } from "./other-writers.ts";
import { imagesDiffer, lockedCharts } from "./pin-warnings.ts";
import { appliers, baseRevisions, generatePaths, hydratedElsewhere, notApplied, outsideReads } from "./reads.ts";

/** Says what stands against a rollout outside of its file, each problem at its line of `sourceRef` or `pins`. `parts`: where it has not one set. */
export function lintOutside(input: GatherInput, files: RepoFiles, parts: readonly SetPart[] = []): Problem[] {
  const { rollout } = input;
  const [first = input, ...others] = parts.map(({ source, ...part }) => ({ ...input, ...part, rollout: { ...rollout, source } }));
  const each = [gatherOutside(first, files), ...others.map((part) => gatherSet(part, files))] as const;
  const findings = [
    ...each.flatMap((gathered) => [...ofSet(gathered), ...autoSync(gathered, each)].map((finding) => at(rollout, gathered, finding))),
    ...madeTwice(each, input),
    ...ofRollout({ ...joined(input, each), appliers: appliersOf(each, input) }),
    ...methodForbidden(input),
    ...lockedCharts(input.edits, files),
    ...imagesDiffer(rollout, input.edits, files),
  ];
  // What stands in a file of several sets is told once.
  const once = new Map(findings.map((finding) => [JSON.stringify(finding), finding]));
  return [...once.values()].map(({ atKey: _, ...finding }) =>
    locateIn(rollout, files, { severity: "error", ...finding, file: rollout.file, line: 1, column: 1 }),
  );
}

/** What is looked at set by set. */
function ofSet(gathered: Gathered): Finding[] {
  return [
    ...brokenSet(gathered),
    ...setPolicies(gathered),
    ...baseRevisions(gathered),
    ...ignoredPins(gathered),
    ...generatePaths(gathered),
    ...pathsNotCovered(gathered),
    ...pinsWithoutEffect(gathered),
    ...hydratedElsewhere(gathered),
    ...notApplied(gathered),
  ];
}

/** What is looked at for all that a rollout writes. */
function ofRollout(gathered: Gathered): Finding[] {
  return [...otherWriters(gathered), ...outsideReads(gathered), ...silentChecks(gathered), ...releasedByItself(gathered)];
}

/** Where the rollout says that it is about this set. */
function at(rollout: Rollout, { rollout: { source } }: Gathered, finding: Finding): Finding {
  return finding.path === AT_SOURCE ? { ...finding, path: atName(rollout, source.name) } : finding;
}

function joined(input: GatherInput, [first, ...others]: readonly [Gathered, ...Gathered[]]): Gathered {
  if (others.length === 0) return first;
  const each = [first, ...others];
  const rendered = each.flatMap((one) => one.rendered ?? []);
  const declaring = new Set(each.flatMap((one) => [...one.declaring, ...(one.set === undefined ? [] : [one.set.file])]));
  const { set: _, edited, ...rest } = first;
  const all = edited && { ...edited, applications: each.flatMap((one) => one.edited?.applications ?? []) };
  return { ...rest, rollout: input.rollout, edits: input.edits, rendered, declaring, ...defined({ edited: all }) };
}

/** Applications that apply any of the rollout's sets at the base. */
function appliersOf(each: readonly Gathered[], { templates = [] }: GatherInput): ParentApplication[] {
  const charts = each.slice(0, 1).flatMap((one) => templates.map((file) => ({ ...one, set: { file, object: {} } })));
  const all = [...each, ...charts].filter(({ set }) => set !== undefined);
  return all.flatMap((one) => (one.repoURL === undefined || one.base === undefined ? [] : appliers(one, one.repoURL, one.base)));
}

/** Argo CD gives an Application to the set that makes it first: the other's pin would reach nobody. */
function madeTwice(each: readonly Gathered[], { rollout, edits }: GatherInput): Finding[] {
  const makers = new Map<string, string>();
  const twice = new Map<string, string[]>();
  for (const { rendered = [], rollout: own } of each) {
    for (const { metadata } of rendered) {
      const other = makers.get(metadata.name);
      if (other === undefined) makers.set(metadata.name, own.source.name);
      else if (edits.size === 0 || edits.has(metadata.name)) {
        const key = JSON.stringify([other, own.source.name]);
        twice.set(key, [...(twice.get(key) ?? []), metadata.name]);
      }
    }
  }
  return [...twice].map(([key, applications]): Finding => {
    const sets = JSON.parse(key) as string[];
    return { code: "SETS_OVERLAP", applications, sets, path: atName(rollout, sets[1]) };
  });
}

function brokenSet({ set, unrendered }: Gathered): Finding[] {
  if (set === undefined || unrendered === undefined || !isRefusedByArgo(unrendered)) return [];
  return [{ code: "SET_BROKEN", kind: "Render", set: set.file, problem: unrendered, path: AT_SOURCE }];
}

function setPolicies({ set }: Gathered): Finding[] {
  const spec = specOf(set?.object);
  if (set === undefined || spec === undefined) return [];
  const findings: Finding[] = [];
  const strategy = isRecord(spec["strategy"]) ? spec["strategy"]["type"] : undefined;
  if (strategy === "RollingSync") findings.push({ code: "ROLLING_SYNC", set: set.file, path: AT_SOURCE });
  const policy = isRecord(spec["syncPolicy"]) ? spec["syncPolicy"]["applicationsSync"] : undefined;
  if (policy === "create-only" || policy === "create-delete")
    findings.push({ code: "CREATE_ONLY", set: set.file, policy, path: AT_SOURCE });
  return findings;
}

/** `automated` of what the set yields, or of its template where it cannot be rendered and no patch may add it. */
function autoSync({ set, rendered, rollout }: Gathered, each: readonly Gathered[]): Finding[] {
  if (set === undefined) return [];
  const off = rendered?.filter((application) => !isAutomated(application.spec)).map((application) => application.metadata.name);
  const { template, templatePatch } = specOf(set.object) ?? {};
  const templateOff = isRecord(template) && isRecord(template["spec"]) && !isAutomated(template["spec"]) && templatePatch === undefined;
  if (off === undefined ? !templateOff : off.length === 0) return [];
  const all = off === undefined || off.length === rendered?.length;
  // Where only some of them have it off, a stage that says so is taken for theirs.
  const said = rollout.stages.filter(({ sync }) => sync !== undefined).length;
  const hasOther = each.some(({ rendered: others = [] }) => others.some(({ spec }) => isAutomated(spec)));
  if (said === rollout.stages.length || (said > 0 && hasOther)) return [];
  return [{ code: "AUTO_SYNC_OFF", set: set.file, applications: all ? undefined : off, path: AT_SOURCE }];
}

/** Files that templates really give, where lint of the rollout alone could only guess. */
function releasedByItself({ rollout, edits }: Gathered): Finding[] {
  if (rollout.release?.kind !== "commit") return [];
  const matches = pathMatcher(rollout.release.paths);
  const files = [...edits.values()].flatMap((own) => own.flatMap(filesOf));
  const file = files.find((one) => one !== "" && matches(one));
  if (file === undefined) return [];
  return [{ code: "COMMIT_PATHS", pinFile: file, glob: file, path: ["spec", "release", "commit", "paths"] }];
}

/** A merge queue has a method of its own; where branches are moved, or people merge, this one is not used. */
function methodForbidden({ rollout, methods, defaultBranch = "the base branch" }: GatherInput): Finding[] {
  const { method, strategy } = rollout.delivery;
  if (methods === undefined || strategy !== "PullRequest" || rollout.mode !== "Run" || methods.includes(method)) return [];
  return [{ code: "METHOD_FORBIDDEN", branch: defaultBranch, method, allowed: methods, path: ["spec", "delivery", "method"] }];
}

/** GitHub Actions as an App of github.com; on a server of one's own it has another id, and then nothing is said. */
const ACTIONS = 15_368;

/**
 * A required check whose workflow is filtered away by what batches change is never reported, and GitHub waits for it for ever.
 * Of checks that no workflow of this repo reports nothing is known.
 */
function silentChecks({ rollout, edits, required, workflows, base }: Gathered): Finding[] {
  if (required === undefined || workflows === undefined || base === undefined) return [];
  const findings: Finding[] = [];
  for (const { context, app } of required) {
    if (context.startsWith("stagecoach/") || (app !== undefined && app !== ACTIONS)) continue;
    const own = workflows.filter((workflow) => workflow.reports(context));
    const silent = own.length === 0 ? [] : silentFor(own, { base, branch: branchOf(rollout.name), edits });
    if (silent.length === 0) continue;
    findings.push({
      code: "SILENT_CHECK",
      check: context,
      changed: silent,
      workflows: own.map(({ file }) => file),
      severity: "warning",
      path: ["spec", "pins"],
    });
  }
  return findings;
}

interface Batches {
  base: string;
  branch: string;
  edits: Gathered["edits"];
}

/** Files of the first target whose pull request, alone, would make none of these workflows run. */
function silentFor(workflows: readonly Workflow[], { base, branch, edits }: Batches): string[] {
  for (const own of edits.values()) {
    const files = [...new Set(own.flatMap((edit) => filesOf(edit)))];
    if (files.length > 0 && !workflows.some((workflow) => workflow.runsFor({ files, base, branch }))) return files;
  }
  return [];
}

/** As a batch's branch is named: see src/core/run/state/branch-name.ts. */
function branchOf(rollout: string): string {
  return `stagecoach-run/${rollout}/1/1-1-1`;
}

/** docs/spec.md §9.2: targets whose pins could hold any version, and Argo CD would render the same. */
function pinsWithoutEffect({ edited }: Gathered): Finding[] {
  if (edited === undefined) return [];
  const without = edited.applications.filter((one) => isWithoutEffect(one, edited.sides));
  const [first] = without;
  if (first === undefined) return [];
  const applications = without.map(({ name }) => name);
  const override = overrideOf(first, edited.sides);
  return [{ code: "PIN_WITHOUT_EFFECT", applications, files: first.files, override, path: ["spec", "pins"] }];
}

/** docs/spec.md §9.2: targets for which Argo CD would render nothing anew. */
function pathsNotCovered({ edited }: Gathered): Finding[] {
  if (edited === undefined) return [];
  const missed = edited.applications.flatMap((one) => {
    const found = missedPaths(one, edited.sides);
    return found === undefined ? [] : [{ name: one.name, ...found }];
  });
  const [first] = missed;
  if (first === undefined) return [];
  const { changed, paths, right } = first;
  const data = { applications: missed.map(({ name }) => name), annotation: GENERATE_PATHS, changed, paths, right };
  return [{ code: "PATHS_NOT_COVERED", ...data, path: ["spec", "pins"] }];
}
