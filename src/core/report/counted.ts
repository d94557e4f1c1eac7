/** What people read where a rollout counts something else than clusters (`targetBy`): the one place that decides the word. */
import { count } from "../base/count.ts";
import type { TargetBy } from "../spec/rollout.ts";

const WORDS = { cluster: "cluster", application: "Application", namespace: "namespace" } as const;

/** Whatever says what it counts: a plan, a rollout, the model of a run. */
export type Counting = { readonly targetBy?: TargetBy | undefined };

/** `cluster`, or what is counted in its place. */
export function countedWord({ targetBy }: Counting): string {
  return WORDS[targetBy ?? "cluster"];
}

/** The same for several. */
export function countedWords(counting: Counting): string {
  return `${countedWord(counting)}s`;
}

/** Says how many there are: `1 cluster`, `3 Applications`. */
export function countPhrase(many: number, counting: Counting): string {
  return count(many, countedWord(counting));
}

/** What counts of batches leave out: how many there are to come of these only a run can tell. */
export function putOffPhrase(stages: readonly { requeued: readonly string[] }[]): string {
  const many = stages.reduce((sum, { requeued }) => sum + requeued.length, 0);
  return many === 0 ? "" : `, ${many} put off to ${many === 1 ? "a later batch" : "later batches"}`;
}

interface Share {
  clusters: number;
  healthy: number;
  requeued: number;
  skipped: number;
  toCome: number;
}

/** How far a stage is: `2/3 healthy`; of one that has not begun `3 to come`, since nothing of it is unhealthy. */
export function shareText(
  { clusters, healthy, requeued, skipped, toCome }: Share,
  { state, when }: { state: string; when: string },
): string {
  if (state === "NotReached") return `${clusters - skipped} not reached`;
  const isBegun = when !== "later" && (toCome === 0 || clusters > toCome + requeued + skipped);
  return isBegun ? `${healthy}/${clusters} healthy` : `${clusters - skipped} to come`;
}

/** The same where the stage's state stands beside it: `3 clusters` of one to come. */
export function shareBesideState(counts: Share, stage: { state: string; when: string }, counting: Counting): string {
  if (counts.clusters === 0) return `no ${countedWords(counting)}`;
  return stage.when === "later" ? countPhrase(counts.clusters, counting) : shareText(counts, stage);
}

/** Leaves one of two cells out of a row where what is counted and its Application are the same. */
export function eachOnceNamed<T>(row: readonly T[], at: number, { targetBy }: Counting): T[] {
  return targetBy === "application" ? row.toSpliced(at, 1) : [...row];
}

/** A text in which `<cluster>`, `<clusters>`, `<a cluster>` and `<A cluster>` stand for what is counted. */
export function inCounted(text: string, counting: Counting): string {
  const word = countedWord(counting);
  return text.replace(/<([Aa] )?cluster>?(s?)>?/g, (_, article: string | undefined, several: string) => {
    const before = article === undefined ? "" : /^[AEIOU]/i.test(word) ? `${article[0]}n ` : article;
    return before + word + several;
  });
}
