import { lintAnalyses } from "../../../core/analysis/lint.ts";
import type { Inventory } from "../../../core/argocd/inventory-file.ts";
import { compareText } from "../../../core/base/compare-text.ts";
import { isRecord } from "../../../core/base/is-record.ts";
import { parseTemplate } from "../../../core/base/template.ts";
import type { OwnWords, Path, Problem, ProblemReason } from "../../../core/reasons/problem.ts";
import { unusedSettings } from "../../../core/spec/parse/config.ts";
import { parseRepoConfig, parseRollouts } from "../../../core/spec/parse/parse.ts";
import { readYaml } from "../../../core/spec/parse/yaml.ts";
import { SETTINGS_FILE } from "../../../core/spec/repo-config.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { checkTogether } from "../../../core/spec/rules/pace.ts";
import { clashes, type Unread } from "../../../core/spec/rules/together.ts";
import { locateIn } from "../../../engine/resolve/plan-over.ts";
import { makePlan, type PlanMade } from "../plan/plan-make.ts";
import type { Checkout } from "./lint-checkout.ts";
import { outsideProblems } from "./lint-outside.ts";
import { type Planned, sharedTargets } from "./lint-shared.ts";
import type { LintReport } from "./lint-show.ts";

export function isRolloutFile(path: string): boolean {
  return path.startsWith("rollouts/") && /\.ya?ml$/.test(path);
}

/** Reads and checks the rollouts in these files of a checkout: each by itself, against each other, and against the repo and the fleet. */
export function lint(checkout: Checkout, files: readonly string[], inventory: Inventory | undefined): LintReport {
  const { rollouts, problems } = readRollouts(checkout, files);
  problems.push(...settingsProblems(checkout));
  const clashing = clashes(rollouts, unreadIn(checkout, rollouts));
  for (const clash of clashing) problems.push(locateIn(clash.rollouts[1], checkout, clash.problem));
  const planned: Planned[] = [];
  for (const rollout of rollouts) {
    const made = makePlan(rollout, checkout, inventory, {});
    problems.push(...againstRepo(rollout, checkout, inventory, made));
    if (made.plan !== undefined) planned.push({ rollout, plan: made.plan });
  }
  const told = new Set(clashing.filter(({ problem }) => problem.code === "SOURCE_SHARED").map(({ problem }) => problem.file));
  for (const { rollout, problem } of sharedTargets(planned, told)) problems.push(locateIn(rollout, checkout, problem));
  problems.sort((a, b) => compareText(a.file, b.file) || a.line - b.line || a.column - b.column);
  return { problems, rollouts: rollouts.map(({ name, file }) => ({ name, file })), files: [...files] };
}

/** Settings are judged against all rollouts of the repo, whichever were asked for. */
function settingsProblems(checkout: Checkout): Problem[] {
  const config = parseRepoConfig(readOrTell(checkout, SETTINGS_FILE, []), SETTINGS_FILE);
  if (config.rollouts.byName.size === 0) return [];
  const names = checkout
    .paths()
    .filter(isRolloutFile)
    .flatMap((file) => namesIn(readOrTell(checkout, file, []), file));
  return unusedSettings(config.rollouts, names);
}

/** Rollouts of the repo with mistakes, as far as they can be read: others may name them. */
function unreadIn(checkout: Checkout, rollouts: readonly Rollout[]): Unread[] {
  const read = new Set(rollouts.map(({ file }) => file));
  return checkout
    .paths()
    .filter((file) => isRolloutFile(file) && !read.has(file))
    .flatMap((file) => declaredIn(readOrTell(checkout, file, []), file));
}

function declaredIn(text: string | null, file: string): Unread[] {
  if (text === null) return [];
  return readYaml(text, file).sources.flatMap(({ data }) => {
    const metadata = isRecord(data) ? data["metadata"] : undefined;
    const spec = isRecord(data) ? data["spec"] : undefined;
    if (!isRecord(metadata) || typeof metadata["name"] !== "string") return [];
    const named = isRecord(spec) && Array.isArray(spec["dependsOn"]) ? spec["dependsOn"] : [];
    const dependsOn = named.flatMap((one: unknown) =>
      isRecord(one) && typeof one["rollout"] === "string" ? [{ rollout: one["rollout"] }] : [],
    );
    return [{ name: metadata["name"], file, dependsOn }];
  });
}

/** Of rollouts with mistakes, too. */
function namesIn(text: string | null, file: string): string[] {
  if (text === null) return [];
  return declaredIn(text, file).map(({ name }) => name);
}

/** The rollouts of these files, with the repo's settings; a file that cannot be read is a problem. */
export function readRollouts(checkout: Checkout, files: readonly string[]): { rollouts: Rollout[]; problems: Problem[] } {
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
    const said = error instanceof Error ? error.message : "unknown reason";
    problems.push({ code: "UNREADABLE", name: file, said, severity: "error", file, line: 1, column: 1, path: [] });
    return null;
  }
}

function problemAt(rollout: Rollout, checkout: Checkout, reason: ProblemReason | OwnWords, path: Path): Problem {
  return locateIn(rollout, checkout, { ...reason, severity: "error", file: rollout.file, line: 1, column: 1, path });
}

function againstRepo(rollout: Rollout, checkout: Checkout, inventory: Inventory | undefined, made: PlanMade): Problem[] {
  const known = made.problems.filter((problem) => problem.code !== "LABELS_GUESSED");
  const problems = [
    ...known,
    ...fixedFiles(rollout, checkout, known),
    ...outsideProblems(rollout, checkout, inventory, made.plan),
    ...analysisProblems(rollout, checkout),
    ...freezeProblems(rollout, checkout),
  ];
  // Labels that are only guessed tell nothing of who is selected and who is left out.
  const fleetKnown = known.length === made.problems.length;
  for (const warning of fleetKnown ? (made.plan?.warnings ?? []) : []) {
    // Nothing was given to judge the fleet by; that is said once already.
    if (warning.code === "NO_TARGETS" && problems.some((problem) => problem.code === "SOURCE_NOT_FOUND")) continue;
    problems.push({ ...problemAt(rollout, checkout, warning, ["spec", "stages"]), severity: "warning" });
  }
  return problems;
}

/** Freezes of the server's configuration, a checkout does not say. */
function freezeProblems(rollout: Rollout, checkout: Checkout): Problem[] {
  const { bounds, problems } = parseRepoConfig(readOrTell(checkout, SETTINGS_FILE, []), SETTINGS_FILE);
  if (problems.some(({ severity }) => severity === "error")) return [];
  return checkTogether(rollout.windows ?? [], bounds.freezes, SETTINGS_FILE).map(({ severity: _s, atKey: _k, path, ...reason }) =>
    problemAt(rollout, checkout, reason, path),
  );
}

/** Which engine the server has, a checkout does not say. */
function analysisProblems(rollout: Rollout, checkout: Checkout): Problem[] {
  return lintAnalyses(rollout, checkout, { builtin: false, unknown: true }).map((problem) => locateIn(rollout, checkout, problem));
}

/** Pin files without a template in their name can be looked for even where no Application is known. */
function fixedFiles(rollout: Rollout, checkout: Checkout, known: readonly Problem[]): Problem[] {
  if (known.some((problem) => problem.code.startsWith("PIN_FILE"))) return [];
  return rollout.pins.flatMap((pin, i): Problem[] => {
    if (pin.kind === "branch") return [];
    const parsed = parseTemplate(pin.file);
    if (!parsed.ok || parsed.parts.some((part) => "variable" in part)) return [];
    const path = ["spec", "pins", i, ...(pin.kind === "clusterGenerator" ? ["clusterGenerator"] : []), "file"];
    try {
      if (checkout.read(pin.file) !== null) return [];
      return [problemAt(rollout, checkout, { code: "PIN_FILE_MISSING", pinFile: pin.file }, path)];
    } catch (error) {
      const said = error instanceof Error ? error.message : "unknown reason";
      return [problemAt(rollout, checkout, { code: "PIN_FILE_UNREADABLE", pinFile: pin.file, said }, path)];
    }
  });
}
