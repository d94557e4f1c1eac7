import { stringify } from "yaml";
import { defined } from "../../base/defined.ts";
import type { Guess, Question } from "../../reasons/onboarding.ts";
import { sayGuess, sayQuestion } from "./guess.ts";
import type { ProposedPin, ProposedRelease, ProposedStage } from "./types.ts";

export interface RolloutParts {
  name: string;
  source:
    | { kind: "ApplicationSet"; name: string; namespace: string; controlPlane?: string[] }
    | { kind: "Application"; namespace: string; selector: Record<string, unknown>; controlPlane?: string[] };
  targetBy: "application" | undefined;
  release: ProposedRelease;
  pins: readonly ProposedPin[];
  stages: readonly ProposedStage[];
  /** What was guessed, for the reader of the file. */
  guesses: readonly Guess[];
  questions: readonly Question[];
}

/** How a rollout is written. */
export const WIDTH = { lineWidth: 140, aliasDuplicateObjects: false };

/** The file of a proposed rollout, with what to check said beside it. */
export function printRollout({ name, source, targetBy, release, pins, stages, guesses, questions }: RolloutParts): string {
  const parts = [
    "# Proposed by `stagecoach init`. What it does: `stagecoach plan NAME`; is it valid: `stagecoach lint`.".replace("NAME", name),
    ...guesses.map((guess) => `# Check: ${oneLine(sayGuess(guess))}.`),
    ...questions.flatMap(questionLines),
    stringify({ apiVersion: "stagecoach.dev/v1alpha1", kind: "ProgressiveRollout", metadata: { name } }, WIDTH).trimEnd(),
    "spec:",
    indent(stringify({ sourceRef: { apiGroup: "argoproj.io/v1alpha1", ...source } }, WIDTH)),
    ...(targetBy === undefined
      ? []
      : [
          "  # Each Application is a target of its own: stages choose by its labels, over those of its cluster.",
          `  targetBy: ${targetBy}`,
        ]),
    `  # ${releaseLine(release)}`,
    indent(stringify({ release }, WIDTH)),
    ...pinsOf(pins, targetBy ?? "cluster"),
    indent(stringify({ stages: stages.map((stage) => printStage(stage, targetBy)) }, WIDTH)),
  ];
  return `${parts.join("\n")}\n`;
}

function releaseLine(release: ProposedRelease): string {
  if ("commit" in release) return "A merged pull request that changes one of these is a release.";
  return `A pull request that changes ${"version" in release ? "this version" : "one of these values, or several,"} is a release.`;
}

function pinsOf(pins: readonly ProposedPin[], of: string): string[] {
  const text = indent(stringify({ pins: pins.map((pin) => ({ ...pin })) }, WIDTH));
  if (pins.some((pin) => "branch" in pin))
    return [
      `  # Each ${of} follows a branch of its own: Stagecoach moves it to the release's commit, a batch at a time, without a pull request.`,
      indent(stringify({ delivery: { strategy: "Commit" } }, WIDTH)),
      text,
    ];
  return [`  # Where each ${of}'s version stands: Stagecoach writes here, a batch at a time.`, text];
}

/** A question as it stands above a rollout. */
export function questionLines(question: Question): string[] {
  const { ask, answers } = sayQuestion(question);
  return [`# Question: ${oneLine(ask)}`, ...answers.map((answer) => `#   - ${oneLine(answer)}`)];
}

function printStage(
  { name, selector, maxClusters, maxUnavailable, topologyKey, bake, sync, requeue }: ProposedStage,
  targetBy: RolloutParts["targetBy"],
): Record<string, unknown> {
  const chosen = targetBy === undefined ? { clusters: { selector } } : { targets: { selector } };
  return defined({ name, ...chosen, maxClusters, maxUnavailable, topologyKey, bake, sync, requeue });
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}

function indent(text: string): string {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => (line === "" ? line : `  ${line}`))
    .join("\n");
}

/** `.github/stagecoach.yaml` to begin with. */
export function printSettings(): string {
  return `# The repo's own settings: read from the default branch. Every key is in the reference, "repo-configuration".
# Propose: Stagecoach opens the pull request of each batch, and a person merges it. Run: it merges them, too, once
# every gate passes. Observe: it only comments.
mode: Propose

# Who may give a command, besides having write permission:
# commands:
#   promote: { teams: [sre] }
`;
}

/** A name for files, branches and people: lower case, digits and dashes; `my-app` for `my-app-set`. */
export function rolloutName(wanted: string, taken: ReadonlySet<string>): string {
  const plain =
    wanted
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, "-")
      .replaceAll(/^-+|(?<!-)-+$/g, "")
      .replace(/(?<=.)-(?:applicationset|appset|set)$/, "")
      .slice(0, 50) || "rollout";
  let name = plain;
  for (let n = 2; taken.has(name); n++) name = `${plain}-${n}`;
  return name;
}
