import { lintAnalyses } from "../../../core/analysis/lint.ts";
import type { Inventory } from "../../../core/argocd/inventory-file.ts";
import { compareText } from "../../../core/base/compare-text.ts";
import { defined } from "../../../core/base/defined.ts";
import { errorText } from "../../../core/base/error-text.ts";
import { dig, listAt } from "../../../core/base/is-record.ts";
import type { Cluster } from "../../../core/plan/plan-types.ts";
import { bindingTypos, scopeTypos, stageTypos } from "../../../core/plan/selector-typos.ts";
import type { OwnWords, Path, Problem, ProblemReason } from "../../../core/reasons/problems/problem.ts";
import { parseRepoConfig, unusedNames, unusedSettings } from "../../../core/spec/parse/config.ts";
import { parseRollouts } from "../../../core/spec/parse/parse.ts";
import { readYaml } from "../../../core/spec/parse/yaml.ts";
import { freezesOf, SETTINGS_FILE } from "../../../core/spec/repo-config.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { checkTogether } from "../../../core/spec/rules/pace.ts";
import { clashes, type Unread } from "../../../core/spec/rules/together.ts";
import { isRolloutFile, passedOver } from "../../../engine/config-repo/project.ts";
import { locateIn } from "../../../engine/resolve/plan-over.ts";
import { isFleetKnown } from "../plan/plan-inputs.ts";
import { makePlan, type PlanMade } from "../plan/plan-make.ts";
import { fixedPlaces } from "./fixed-places.ts";
import { leakedCredentials } from "./leaked-credentials.ts";
import type { Checkout } from "./lint-checkout.ts";
import { outsideProblems } from "./lint-outside.ts";
import type { LintReport } from "./lint-show.ts";
import { isSame, type Planned, sharedTargets, sharedWithEarlier } from "./shared-targets.ts";

/** Checks the rollouts in these files of a checkout: each by itself, against each other, and against the repo and the fleet. */
export function lint(
  checkout: Checkout,
  files: readonly string[],
  inventory: Inventory | undefined,
  read: RolloutsRead = readRollouts(checkout, files),
): LintReport {
  const { rollouts } = read;
  const problems = [...read.problems, ...settingsProblems(checkout), ...passedOver(checkout.paths())];
  const clashing = clashes(rollouts, unreadIn(checkout, rollouts));
  for (const clash of clashing) problems.push(locateIn(clash.rollouts[1], checkout, clash.problem));
  const planned: Planned[] = [];
  const clusters = new Map<string, Cluster>();
  const unjudged: Rollout[] = [];
  const wrong = new Set<Rollout>();
  for (const rollout of rollouts) {
    const made = makePlan(rollout, checkout, inventory, {});
    if (!isFleetKnown(rollout, made) || made.clusters === undefined) unjudged.push(rollout);
    const against = againstRepo(rollout, checkout, inventory, made);
    problems.push(...against);
    if (against.some(({ severity }) => severity === "error")) wrong.add(rollout);
    for (const cluster of made.clusters ?? []) clusters.set(cluster.key, cluster);
    if (made.plan !== undefined) planned.push({ rollout, plan: made.plan });
  }
  const isWhole = unjudged.length === 0 && rolloutFilesIn(checkout).every((file) => files.includes(file));
  problems.push(...settingsTypos(checkout, [...clusters.values()], isWhole));
  const told = new Set(clashing.filter(({ problem }) => problem.code === "SOURCE_SHARED").map(({ problem }) => problem.file));
  problems.push(...sharedTargets(planned, told, checkout).map(({ problem }) => problem));
  problems.push(...newLeaks(checkout, problems));
  problems.sort((a, b) => compareText(a.file, b.file) || a.line - b.line || a.column - b.column);
  // Beside an error an inventory is not what is wanted first.
  const asked = unjudged.filter((rollout) => !wrong.has(rollout));
  return { problems, rollouts: rollouts.map(({ name, file }) => ({ name, file })), files: [...files], unjudged: asked };
}

/** Credentials in files of the repo; a file that is refused for them was told already. */
function newLeaks(checkout: Checkout, problems: readonly Problem[]): Problem[] {
  const told = new Set(problems.flatMap(({ code, file }) => (code === "INVENTORY_CREDENTIALS" ? [file] : [])));
  return leakedCredentials(checkout).filter(({ file }) => !told.has(file));
}

/**
 * What lint holds against one rollout, errors only: of its own file, of the settings, and against the other rollouts of the repo. `made` is the
 * plan of the rollout, which may be of another release than lint's. Called by what plans: nothing is planned that lint refuses.
 */
export function refusalsOf(rollout: Rollout, checkout: Checkout, inventory: Inventory | undefined, made: PlanMade): Problem[] {
  const problems: Problem[] = [];
  problems.push(...parseRepoConfig(readOrTell(checkout, SETTINGS_FILE, problems), SETTINGS_FILE).problems);
  const { rollouts } = readRollouts(checkout, rolloutFilesIn(checkout));
  const clashing = clashes(rollouts, unreadIn(checkout, rollouts)).filter(({ rollouts: [, later] }) => isSame(later, rollout));
  const shared = clashing.some(({ problem }) => problem.code === "SOURCE_SHARED")
    ? []
    : sharedWithEarlier({ rollout, plan: made.plan }, rollouts, (one) => makePlan(one, checkout, inventory, {}).plan, checkout);
  const all = [
    ...problems,
    ...clashing.map(({ problem }) => locateIn(rollout, checkout, problem)),
    ...shared,
    ...againstRepo(rollout, checkout, inventory, made),
  ];
  return all.filter(({ severity }) => severity === "error");
}

/** Settings are judged against all rollouts of the repo, with mistakes, too, whichever were asked for. */
function settingsProblems(checkout: Checkout): Problem[] {
  const config = parseRepoConfig(readOrTell(checkout, SETTINGS_FILE, []), SETTINGS_FILE);
  const { freezes, limits } = config.bounds;
  if (config.rollouts.byName.size + config.notifications.rules.length + freezes.length + (limits?.selected ?? []).length === 0) return [];
  const declared = rolloutFilesIn(checkout).flatMap((file) => declaredIn(checkout, file));
  return [...unusedSettings(config.rollouts, declaredRollouts(checkout)), ...unusedNames(config, declared)];
}

/** Labels that freezes and limits go by, and no cluster of the rollouts has: they would hold nothing. `all`: these are those of all rollouts. */
function settingsTypos(checkout: Checkout, clusters: readonly Cluster[], all: boolean): Problem[] {
  const { bounds, notifications } = parseRepoConfig(readOrTell(checkout, SETTINGS_FILE, []), SETTINGS_FILE);
  const { place } = notifications;
  if (place === undefined || clusters.length === 0) return [];
  const selectors = [
    ...bounds.freezes.map(({ selector }, i) => ({ selector, path: ["freezes", i] })),
    ...(bounds.limits?.selected ?? []).map(({ selector }, i) => ({ selector, path: ["limits", "selected", i] })),
  ];
  return selectors.flatMap(({ selector, path }) =>
    (selector === undefined ? [] : bindingTypos(selector, clusters, all)).map(({ key, value, near, path: at, atKey }) => {
      const setting = `${path[0]}${path.length === 3 ? ".selected" : ""}[${path.at(-1)}]`;
      return place({ code: "UNKNOWN_LABEL", setting, key, value, near, severity: "warning", path: [...path, "selector", ...at], atKey });
    }),
  );
}

/** Names of all rollouts of the repo, those with mistakes, too. */
export function declaredRollouts(checkout: Checkout): string[] {
  return rolloutFilesIn(checkout).flatMap((file) => declaredIn(checkout, file).map(({ name }) => name));
}

export function rolloutFilesIn(checkout: Checkout): string[] {
  return checkout.paths().filter(isRolloutFile);
}

/** Rollouts of the repo with mistakes, as far as they can be read: others may name them. */
function unreadIn(checkout: Checkout, rollouts: readonly Rollout[]): Unread[] {
  const read = new Set(rollouts.map(({ file }) => file));
  return rolloutFilesIn(checkout).flatMap((file) => (read.has(file) ? [] : declaredIn(checkout, file)));
}

function declaredIn(checkout: Checkout, file: string): (Unread & { stages: string[] | undefined })[] {
  const text = readOrTell(checkout, file, []);
  if (text === null) return [];
  return readYaml(text, file).sources.flatMap(({ data }) => {
    const name = dig(data, "metadata", "name");
    if (typeof name !== "string") return [];
    const named = listAt(data, "spec", "dependsOn").map((one) => dig(one, "rollout"));
    const dependsOn = named.flatMap((rollout) => (typeof rollout === "string" ? [{ rollout }] : []));
    return [{ name, file, dependsOn, stages: stagesIn(dig(data, "spec", "stages")) }];
  });
}

/** undefined: they cannot be read. */
function stagesIn(stages: unknown): string[] | undefined {
  if (!Array.isArray(stages)) return undefined;
  const names = stages.map((one) => dig(one, "name")).filter((name) => typeof name === "string");
  return names.length === stages.length ? names : undefined;
}

interface RolloutsRead {
  rollouts: Rollout[];
  problems: Problem[];
}

/** The rollouts of these files, with the repo's settings; a file that cannot be read is a problem. */
export function readRollouts(checkout: Checkout, files: readonly string[]): RolloutsRead {
  const problems: Problem[] = [];
  const rollouts: Rollout[] = [];
  const settings = readOrTell(checkout, SETTINGS_FILE, problems);
  const config = parseRepoConfig(settings, SETTINGS_FILE);
  problems.push(...config.problems);
  for (const file of files) {
    const text = readOrTell(checkout, file, problems);
    if (text === null) continue;
    const parsed = parseRollouts(text, file, config.rollouts);
    problems.push(...parsed.problems);
    rollouts.push(...parsed.rollouts);
  }
  return { rollouts, problems };
}

function readOrTell(checkout: Checkout, file: string, problems: Problem[]): string | null {
  try {
    return checkout.read(file);
  } catch (error) {
    const said = errorText(error);
    problems.push({ code: "UNREADABLE", name: file, said, severity: "error", file, line: 1, column: 1, path: [] });
    return null;
  }
}

/** `atKey`: the key itself is meant, not its value. */
function problemAt(rollout: Rollout, checkout: Checkout, reason: ProblemReason | OwnWords, path: Path, atKey?: boolean): Problem {
  const at = { severity: "error", file: rollout.file, line: 1, column: 1, path, ...defined({ atKey }) } as const;
  return locateIn(rollout, checkout, { ...reason, ...at });
}

function againstRepo(rollout: Rollout, checkout: Checkout, inventory: Inventory | undefined, made: PlanMade): Problem[] {
  const told = made.problems.filter((problem) => problem.code !== "LABELS_GUESSED");
  const problems = [
    ...told,
    ...fixedPlaces(rollout, checkout, told),
    ...outsideProblems(rollout, checkout, inventory, made),
    ...analysisProblems(rollout, checkout),
    ...freezeProblems(rollout, checkout),
  ];
  const known = made.clusters ?? [];
  for (const { path, atKey, ...label } of [
    ...stageTypos(rollout, known),
    ...(isFleetKnown(rollout, made) ? scopeTypos(rollout, known) : []),
  ]) {
    const typo = {
      ...problemAt(rollout, checkout, { code: "UNKNOWN_LABEL", ...label }, path, atKey),
      ...defined({ targetBy: rollout.targetBy }),
      severity: "warning",
    } as const;
    problems.push(typo);
  }
  const isKnown = isFleetKnown(rollout, made);
  for (const warning of made.plan?.warnings ?? []) {
    // What is like a label that is only guessed is mistyped as well.
    if (!isKnown && (warning.code !== "NOT_KEPT_APART" || warning.near === undefined)) continue;
    // That was told with its place.
    if (warning.code === "UNKNOWN_LABEL") continue;
    // Nothing was given to judge the fleet by; that is said once already.
    if (warning.code === "NO_TARGETS" && problems.some((problem) => problem.code === "SOURCE_NOT_FOUND")) continue;
    const severity = warning.code === "REACHES_NOBODY" ? "error" : "warning";
    const stage = "stage" in warning ? warning.stage : "stages" in warning ? warning.stages[1] : undefined;
    const at = rollout.stages.findIndex(({ name }) => name === stage);
    const field = warning.code === "NOT_KEPT_APART" ? ["topologyKey"] : [];
    problems.push({ ...problemAt(rollout, checkout, warning, ["spec", "stages", ...(at < 0 ? [] : [at, ...field])]), severity });
  }
  return problems;
}

/** Freezes of the server's configuration, a checkout does not say. */
function freezeProblems(rollout: Rollout, checkout: Checkout): Problem[] {
  const { bounds, problems } = parseRepoConfig(readOrTell(checkout, SETTINGS_FILE, []), SETTINGS_FILE);
  if (problems.some(({ severity }) => severity === "error")) return [];
  return checkTogether(rollout, freezesOf(bounds.freezes), SETTINGS_FILE).map(({ severity: _s, atKey: _k, path, ...reason }) =>
    problemAt(rollout, checkout, reason, path),
  );
}

/** Which engine the server has, a checkout does not say. */
function analysisProblems(rollout: Rollout, checkout: Checkout): Problem[] {
  return lintAnalyses(rollout, checkout, { builtin: false, unknown: true }).map((problem) => locateIn(rollout, checkout, problem));
}
