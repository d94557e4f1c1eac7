/** What the onboarding pull request says, within GitHub's limit. Called by `onboard.ts` and `stagecoach init`. */
import type { BareBranch } from "../../reasons/gates.ts";
import { BODY_LIMIT, cell, code } from "../escape.ts";
import { branchesRuleset, gateRuleset, THE_APP_ID } from "../ruleset.ts";
import { type Foreseen, foreseenMarkdown } from "../simulated.ts";
import { sayGuess, sayQuestion } from "./guess.ts";
import { sayHindrance } from "./hindrance.ts";
import { sayRepoKind } from "./repo-kind.ts";
import { countedIn, foundSentence, pinLines, stagesLine } from "./show.ts";
import type { Proposal, ProposedRollout } from "./types.ts";

/** What the pull request that brings a repo to Stagecoach is about, besides the proposal. */
interface OnboardingScene {
  repository: string;
  baseBranch: string;
  journalBranch: string;
  /** Ours: the App's account. */
  login: string;
  /** The App's; undefined: not known. */
  appId?: number;
  /** The bot's own branches that others may write to; undefined: GitHub did not say. */
  bare?: readonly BareBranch[] | undefined;
  /** Whether the base requires the gate's check, and of whom. undefined: GitHub did not say. */
  gate?: "bound" | "unbound" | "none" | undefined;
  /** By the rollout's name. */
  previews: ReadonlyMap<string, ProposalPreview>;
}

/** What a proposed rollout would do with the next release. */
export interface ProposalPreview {
  /** As the comment of a release PR shows it. */
  plan: string;
  simulated: Foreseen | undefined;
}

/** Left for what GitHub and the sticky marker add. */
const ROOM = BODY_LIMIT - 2_000;
const MOST_UNDECIDED = 100;

/** A proposal as a comment: `stagecoach init -o markdown`. */
export function proposalComment(proposal: Proposal): string {
  return fitting((room) => [
    found(proposal),
    table(proposal),
    undecided(proposal),
    room === "none" ? tooLong(proposal) : details(proposal, new Map(), false),
  ]);
}

/** The body of the onboarding pull request: what was found, what merging does, what a person has to decide. */
export function onboardingBody(proposal: Proposal, scene: OnboardingScene): string {
  return fitting((room) => [
    "Stagecoach carries releases across your clusters stage by stage, one pull request a batch. This pull request proposes how, for this repository. Nothing happens until it is merged; **closing it means no**, and it is not opened again.",
    found(proposal),
    table(proposal),
    undecided(proposal),
    merging(proposal, scene),
    rulesets(scene),
    room === "none" ? tooLong(proposal) : details(proposal, scene.previews, room === "all"),
    "<sub>Push to this branch to change the proposal. The same on a checkout, as often as you like: `stagecoach init`.</sub>",
  ]);
}

/** `files`: all but the tables of simulated runs. */
type Room = "all" | "files" | "none";

/** With every file, or where that is too long without; the last resort is cut between paragraphs. */
function fitting(compose: (room: Room) => string[]): string {
  for (const room of ["all", "files", "none"] as const) {
    const body = compose(room)
      .filter((part) => part !== "")
      .join("\n\n");
    if (body.length <= ROOM) return body;
  }
  const cut = compose("none").join("\n\n").slice(0, ROOM);
  return `${cut.slice(0, cut.lastIndexOf("\n\n"))}\n\n… and more: \`stagecoach init\` on a checkout shows all of it.`;
}

function found(proposal: Proposal): string {
  return `### 🔎 Found\n\n${cell(foundSentence(proposal), 500)}.`;
}

function table({ rollouts, settings, repoKind }: Proposal): string {
  if (rollouts.length === 0 && repoKind !== undefined) return `### 🗺️ Proposed\n\nNo rollout. ${cell(sayRepoKind(repoKind), 600)}`;
  if (rollouts.length === 0) return "### 🗺️ Proposed\n\nNo rollout: what was found is below, with what each lacks.";
  const rows = rollouts.map(
    (rollout) =>
      `| ${code(rollout.file)} | ${cell(`${rollout.source.kind} ${rollout.source.name}`)} | ${code(rollout.version)} | ${countedIn(rollout)} | ${cell(rollout.kinds.join(", "))} | ${cell(stagesLine(rollout), 600)} |`,
  );
  const head = ["| file | for | version | where | version found in | stages |", "| --- | --- | --- | --- | --- | --- |"];
  const more = settings === undefined ? "" : `\n\nAnd ${code(settings.file)}, with \`mode: Propose\`.`;
  return `### 🗺️ Proposed\n\n${[...head, ...rows].join("\n")}${more}`;
}

function undecided(proposal: Proposal): string {
  if (proposal.undecided.length === 0) return "";
  const rows = proposal.undecided
    .slice(0, MOST_UNDECIDED)
    .map(({ what, file, why }) => ({ what, file, ...sayHindrance(why) }))
    .map(({ what, file, why, hint }) => `| ${cell(what)}<br>${code(file)} | ${cell(why, 500)} | ${cell(hint, 300)} |`);
  const more = proposal.undecided.length > MOST_UNDECIDED ? `\n\nand ${proposal.undecided.length - MOST_UNDECIDED} more.` : "";
  return `### 🤔 Not decided\n\n| what | why | what to do |\n| --- | --- | --- |\n${rows.join("\n")}${more}`;
}

function merging({ rollouts }: Proposal, { baseBranch }: OnboardingScene): string {
  const first = rollouts[0];
  const steps = [
    `Nothing moves: the versions that stand on ${code(baseBranch)} now are taken for what is live.`,
    first === undefined
      ? "From then on a pull request that changes a rollout's version is a release."
      : `From then on a pull request that changes ${changedBy(first)} is a release. While it is open, its plan stands on it as a comment.`,
    "When a release is merged, Stagecoach opens the pull request of each batch in turn. With `mode: Propose` **a person merges each of them**; Stagecoach watches Argo CD until the change is live and healthy there, and only then opens the next. `mode: Run` lets it merge them, too.",
  ];
  return `### ▶️ What merging this does\n\n${steps.map((step, i) => `${i + 1}. ${step}`).join("\n")}`;
}

function changedBy({ file, kinds }: ProposedRollout): string {
  return kinds.includes("branch") ? `what \`spec.release.commit\` in ${code(file)} names` : `\`spec.release\` in ${code(file)}`;
}

/** docs/spec.md §9.23: the journal is nobody's to write but ours, nor are the branches of batches. A required check is the App's alone. */
function rulesets({ journalBranch, baseBranch, repository, login, appId, bare, gate }: OnboardingScene): string {
  const calls = [
    ...(bare?.length === 0 ? [] : [branchesRuleset({ repository, journalBranch, appId })]),
    ...(gate === "bound" ? [] : [gateRuleset({ repository, baseBranch, appId })]),
  ];
  if (calls.length === 0)
    return `### 🔒 Rules\n\nThe rules that keep others from ${code(journalBranch)} and \`stagecoach-run/…\` are there, and \`stagecoach/gate\` is required from this App.`;
  const whoSetsIt =
    appId === undefined
      ? `An owner sets it once: put the App's id (on the App's page, *App ID* of ${code(login)}) in place of \`${THE_APP_ID}\`, as a number.`
      : `An owner of the repository sets it once; ${appId} is the id of this App (${code(login)}).`;
  const first =
    bare?.length === 0
      ? "The rules for the bot's own branches are there."
      : `Stagecoach keeps its state on ${code(journalBranch)} and makes its batches on \`stagecoach-run/…\`. A ruleset has to keep everybody else from them before \`mode: Run\` opens anything${missing(bare)}.`;
  const second =
    gate === "bound"
      ? ""
      : ` The ruleset for \`stagecoach/gate\` is advised: nobody merges a batch before its turn then; the check counts from this App alone, since anybody with write can post one of that name${gate === "unbound" ? " — **it is required now of whoever reports it**" : ""}.`;
  return [
    `<details><summary>🔒 Missing: ${calls.length === 2 ? "two rulesets" : "a ruleset"}, ready to paste</summary>`,
    `${first}${second} ${whoSetsIt}`,
    ...calls.map((call) => `\`\`\`sh\n${call}\n\`\`\``),
    "</details>",
  ].join("\n\n");
}

function missing(bare: readonly BareBranch[] | undefined): string {
  if (bare === undefined) return "";
  return `: others may write to ${bare.map(({ branch }) => code(branch)).join(" and ")} now`;
}

function details({ rollouts }: Proposal, previews: ReadonlyMap<string, ProposalPreview>, long: boolean): string {
  return rollouts.map((rollout) => oneRollout(rollout, previews.get(rollout.name), long)).join("\n\n");
}

function oneRollout(rollout: ProposedRollout, preview: ProposalPreview | undefined, long: boolean): string {
  const pins = pinLines(rollout).map((line) => `- writes ${code(line)}`);
  const checks = rollout.guesses.map((guess) => `- check: ${cell(sayGuess(guess), 500)}`);
  const questions = rollout.questions
    .map(sayQuestion)
    .map(({ ask, answers }) => `- ❓ ${cell(ask, 500)}${answers.map((one) => `\n  - ${cell(one, 1000)}`).join("")}`);
  const fence = "`".repeat(Math.max(3, ...[...rollout.text.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)));
  const next =
    preview === undefined
      ? []
      : [
          "**The plan of the next release**",
          withoutHeading(preview.plan),
          foreseenMarkdown(preview.simulated, rollout.name, rollout, long),
        ];
  return [
    `<details><summary><code>${rollout.file.replaceAll(/[^\w./-]/g, "")}</code></summary>`,
    [...pins, ...checks, ...questions].join("\n"),
    `${fence}yaml\n${rollout.text.trimEnd()}\n${fence}`,
    ...next,
    "</details>",
  ].join("\n\n");
}

/** Headings inside a folded part would be larger than its own title; "Merging this PR" would be about another one. */
function withoutHeading(preview: string): string {
  return preview
    .split("\n\n")
    .filter((part) => !part.startsWith("### ") && !part.startsWith("Merging this PR"))
    .join("\n\n");
}

function tooLong({ rollouts }: Proposal): string {
  return rollouts.length === 0
    ? ""
    : "The files are in this proposal's diff, and `stagecoach plan NAME` shows what each would do: there is no room for all of it here.";
}
