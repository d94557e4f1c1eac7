import { defined } from "../../base/defined.ts";
import { variablesIn } from "../../base/template.ts";
import { sayGuess, sayQuestion } from "./guess.ts";
import { sayHindrance } from "./hindrance.ts";
import { sayRepoKind } from "./repo-kind.ts";
import type { Proposal, ProposedRelease, ProposedRollout, Undecided } from "./types.ts";

/** What was found, in one sentence. */
export function foundSentence({ figures, fleet, clusters }: Proposal): string {
  if (figures.files === 0) return "no file";
  const parts = [
    count(figures.applicationSets, "ApplicationSet"),
    count(figures.applications, "Application"),
    count(figures.kustomizations, "kustomization"),
    count(figures.charts, "Chart.yaml"),
    count(figures.valuesFiles, "values file"),
  ].filter((part) => !part.startsWith("0 "));
  const from = { inventory: "as Argo CD knows them", generators: "as generators and destinations name them", nothing: "none is named" }[
    fleet
  ];
  const what = parts.length === 0 ? "nothing of Argo CD's" : parts.join(", ");
  return `${count(figures.files, "file")} with ${what}; ${count(clusters, "cluster")}, ${from}`;
}

function nounOf(targetBy: ProposedRollout["targetBy"]): string {
  return targetBy === undefined ? "cluster" : "Application";
}

/** What a rollout is about, counted: `12 clusters`, `3 Applications on 1 cluster`. */
export function countedIn({ targetBy, targets, clusters }: ProposedRollout): string {
  return targetBy === undefined ? count(clusters, "cluster") : `${count(targets, "Application")} on ${count(clusters, "cluster")}`;
}

/** How a proposed rollout travels, in one line. */
export function stagesLine({ stages, targetBy }: ProposedRollout): string {
  return stages
    .map(({ name, clusters, maxUnavailable, topologyKey }) => {
      const apart = topologyKey === undefined ? "" : `, one per ${topologyKey}`;
      return `${name} (${count(clusters, nounOf(targetBy))}, ${maxUnavailable} at once${apart})`;
    })
    .join(" → ");
}

export function pinLines({ pins }: ProposedRollout): string[] {
  return pins.map((pin) => {
    if ("branch" in pin) return `the branch ${pin.branch}, moved to the commit of each release`;
    if ("clusterGenerator" in pin) return `${pin.clusterGenerator.file}  between two clusters entries, ${pin.clusterGenerator.path}`;
    return `${pin.file}  ${pin.path}${pin.part === undefined ? "" : ` (${pin.part})`}`;
  });
}

export interface Written {
  file: string;
  outcome: "written" | "kept";
}

/**
 * For a terminal; every text of the repo goes through `clean`. `written` undefined: nothing was to be. `given`: the arguments
 * that lint and plan need, too, to see what was seen here. `previews`: what each would do, by its name.
 */
export function proposalText(
  proposal: Proposal,
  written: readonly Written[] | undefined,
  clean: (text: string) => string,
  given: readonly string[] = [],
  previews: ReadonlyMap<string, readonly string[]> = new Map(),
): string {
  const lines = [`Found ${clean(foundSentence(proposal))}.`, ""];
  for (const rollout of proposal.rollouts) {
    lines.push(
      `${clean(rollout.file)}   ${rollout.source.kind} ${clean(rollout.source.name)} at ${clean(rollout.version)}, ${countedIn(rollout)}`,
    );
    lines.push(...pinLines(rollout).map((line) => `  writes  ${clean(line)}`), `  stages  ${clean(stagesLine(rollout))}`);
    lines.push(...(previews.get(rollout.name) ?? []).map((line) => `  plan    ${clean(line)}`));
    lines.push(...rollout.guesses.map((guess) => `  check   ${clean(sayGuess(guess))}`));
    lines.push(
      ...rollout.questions
        .map(sayQuestion)
        .flatMap(({ ask, answers }) => [`  ask     ${clean(ask)}`, ...answers.map((one) => `            - ${clean(one)}`)]),
      "",
    );
  }
  if (proposal.settings !== undefined && proposal.rollouts.length > 0) lines.push(`${proposal.settings.file}   mode: Propose`, "");
  if (proposal.undecided.length > 0) lines.push("Not decided:", ...undecidedLines(proposal.undecided, clean), "");
  lines.push(closing(proposal, written, clean, given));
  return `${lines.join("\n")}\n`;
}

const MOST_ALIKE = 10;

/** What has the same reason is told together: a repo of two hundred sets has few reasons. */
function undecidedLines(undecided: readonly Undecided[], clean: (text: string) => string): string[] {
  const alike = Map.groupBy(undecided.map(told), ({ why, hint }) => `${why}\n${hint}`);
  return [...alike.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const hint = `    → ${clean(first.hint)}`;
    if (group.length === 1) return [`  ${clean(first.what)} (${clean(first.file)}): ${clean(first.why)}`, hint];
    const names = group.slice(0, MOST_ALIKE).map(({ what, file }) => `    ${clean(what)} (${clean(file)})`);
    const more = group.length > MOST_ALIKE ? [`    and ${group.length - MOST_ALIKE} more: -o json names them all`] : [];
    return [`  ${group.length} of them: ${clean(first.why)}`, ...names, ...more, hint];
  });
}

function closing(
  proposal: Proposal,
  written: readonly Written[] | undefined,
  clean: (text: string) => string,
  given: readonly string[],
): string {
  const { rollouts, existing } = proposal;
  const there = existing.length === 0 ? "" : ` There are already: ${existing.map(clean).join(", ")}.`;
  if (rollouts.length === 0 && written === undefined) return `No rollout is proposed. ${clean(whyNone(proposal))}${there}`;
  if (written === undefined) return `Nothing was written: --write does, and -o markdown or json shows the files.${there}`;
  const made = written.filter((one) => one.outcome === "written").map((one) => clean(one.file));
  const kept = written.filter((one) => one.outcome === "kept").map((one) => clean(one.file));
  const more = given.map((word) => ` ${clean(shellWord(word))}`).join("");
  const next = made.some((file) => file.startsWith("rollouts/"))
    ? `Next: stagecoach lint${more}, and stagecoach plan ${clean(nextPlan(rollouts))}${more}.`
    : rollouts.length === 0 && `${clean(whyNone(proposal))}${there}`;
  const parts = [made.length === 0 ? "Nothing was written." : `Written: ${made.join(", ")}.`];
  if (next) parts.push(next);
  if (kept.length > 0) parts.push(`There already, and left as it was: ${kept.join(", ")}.`);
  return parts.join(" ");
}

/** What plans that are shown beside a proposal call the next version. */
export const NEXT_VERSION = "next";

/** As nothing is released yet, a plan is asked for some version: `web --to VERSION`. */
function nextPlan([first, second]: Proposal["rollouts"]): string {
  if (first === undefined || second !== undefined) return "NAME --to VERSION";
  const variables = first.pins.flatMap((pin) => ("value" in pin && pin.value !== undefined ? variablesIn(pin.value) : []));
  const [value] = variables.flatMap((one) => (one.root === "release.values" ? [`${one.key}=`] : []));
  return `${first.name} --to ${value ?? ""}VERSION`;
}

/** As a shell takes it for one word. */
function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A reader who sees nothing proposed wonders whether nothing was found or nothing was left. */
function whyNone({ existing, undecided, repoKind }: Proposal): string {
  if (repoKind !== undefined && existing.length === 0) return sayRepoKind(repoKind);
  if (existing.length > 0) return "What could be staged here has a rollout already.";
  const chief = chiefOf(undecided);
  if (chief !== undefined) return `First of all, ${chief.what}: ${chief.why}. What to do: ${chief.hint}.`;
  return "There is no place from which a version could be carried to clusters: docs/onboarding.md of Stagecoach has what is looked for.";
}

/** Nobody needs to do anything about these. */
const QUIET: readonly Undecided["why"]["kind"][] = ["Parents", "OneApplication", "NothingAlike", "EachAlone", "OnlyOne"];

/** Also where a generator finds nothing yet. */
function isQuiet(why: Undecided["why"]): boolean {
  return QUIET.includes(why.kind) || (why.kind === "NoApplications" && why.patterns.length > 0);
}

/** The one reason that stands in the way of most of what a repo has. */
function chiefOf(undecided: readonly Undecided[]): ToldUndecided | undefined {
  const loud = undecided.filter(({ why }) => !isQuiet(why));
  const alike = Map.groupBy(loud.length > 0 ? loud : undecided, ({ why }) => `${why.kind} ${sayHindrance(why).hint}`);
  const weight = (group: readonly Undecided[]) => group.reduce((sum, { applications = 1 }) => sum + applications, 0);
  const [most] = [...alike.values()].sort((a, b) => weight(b) - weight(a));
  return most?.[0] && told(most[0]);
}

interface ToldUndecided extends Pick<Undecided, "what" | "file"> {
  why: string;
  hint: string;
}

function told({ what, file, why }: Undecided): ToldUndecided {
  return { what, file, ...sayHindrance(why) };
}

/** The documented JSON of `stagecoach init -o json`. */
export function proposalJson(proposal: Proposal, written: readonly Written[] | undefined): unknown {
  return {
    found: { ...proposal.figures, clusters: proposal.clusters, clustersFrom: proposal.fleet },
    rollouts: proposal.rollouts.map(
      ({ name, file, text, source, kinds, pins, stages, targetBy, targets, clusters, version, guesses, questions }) => ({
        name,
        file,
        source,
        version,
        ...defined({ targetBy }),
        targets,
        clusters,
        kinds,
        pins,
        stages,
        guesses: guesses.map(sayGuess),
        questions: questions.map(sayQuestion),
        text,
      }),
    ),
    existing: proposal.existing,
    settings: proposal.settings ?? null,
    undecided: proposal.undecided.map(told),
    ...defined({ reason: proposal.rollouts.length + proposal.existing.length > 0 ? undefined : chiefOf(proposal.undecided) }),
    ...defined({ repo: proposal.repoKind && sayRepoKind(proposal.repoKind) }),
    ...defined({ written }),
  };
}

/** Every file of a proposal: path and text. */
export function proposedFiles({ rollouts, settings }: Proposal): Map<string, string> {
  const files = new Map<string, string>();
  if (settings !== undefined) files.set(settings.file, settings.text);
  for (const rollout of rollouts) files.set(rollout.file, rollout.text);
  return files;
}

function count(n: number, noun: string): string {
  return `${n} ${n === 1 || noun.endsWith("yaml") ? noun : `${noun}s`}`;
}

/** The release that a rollout begins with, in one line. */
export function versionShown(release: ProposedRelease): string {
  if ("version" in release) return release.version;
  if ("commit" in release) return `each merge that changes ${release.commit.paths.join(", ")}`;
  return Object.entries(release.values)
    .map(([key, value]) => `${key} ${value}`)
    .join(", ");
}
