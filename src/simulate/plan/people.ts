import { hasCode } from "../../core/base/reason.ts";
import { matches, type Selectable, type Selector } from "../../core/base/selector.ts";
import { epoch } from "../../core/base/time.ts";
import type { Batch, Run } from "../../core/run/state/run.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import type { Driver } from "../driver.ts";
import { MEMBERS } from "../generate/scenario.ts";
import { mergeNow } from "../world/forge.ts";
import { say } from "../world/people.ts";

/** How long people take to approve, merge or promote what waits for them. */
export const PEOPLE_MS = 10 * 60_000;

/** Cluster key → the look, counted from 1, that finds it no longer put off. */
export type Returns = ReadonlyMap<string, number>;

/** Branches that a person has come to merge. */
type Visited = Set<string>;

/** They do what a pull request waits for, and nothing else: a run that stops on a failure stops for good. */
export function attend(driver: Driver, returns: Returns, visited: Visited): void {
  for (const { run } of driver.entries) {
    if (run === undefined || run.paused !== undefined) continue;
    for (const batch of run.batches) {
      if (batch.phase === "Open") attendOpen(driver, run, batch, visited);
      else if (batch.phase === "Baking") attendStep(driver, batch);
    }
    takeBack(driver, run, returns);
  }
}

function attendOpen(driver: Driver, run: Run, batch: Batch, visited: Visited): void {
  const { truth, now } = driver;
  const pull = truth.forge.byBranch.get(batch.branch);
  if (pull === undefined || pull.state !== "open" || batch.pull === undefined) return;
  const byHand = isByHand(run.spec);
  const approval = run.spec.stages[batch.stage]?.approval;
  if ((!byHand && approval === undefined) || !isDue(driver, epoch(batch.pull.openedAt) + PEOPLE_MS)) return;
  // The first of them is taken to have released it, and does not count.
  if (approval !== undefined) for (const by of MEMBERS.slice(1)) pull.reviews.set(by, { head: pull.head, at: now });
  if (!byHand || !hasLooked(driver, batch, visited) || !isGateOpen(batch)) return;
  if (run.spec.mode !== "Run") mergeNow(truth.git, pull, "a person", false, now);
  else if (batch.promoted === undefined) promote(driver, pull.number);
}

/** A canary step's pause without a duration lasts until somebody promotes. */
function attendStep(driver: Driver, { step, pull }: Batch): void {
  const wait = step?.wait;
  if (wait?.from === undefined || wait.until !== undefined || pull === undefined) return;
  if (isDue(driver, epoch(wait.from) + PEOPLE_MS)) promote(driver, pull.number);
}

/** What the run says of its gates is of its last round: a window may have closed since, so another one comes first. */
function hasLooked(driver: Driver, { branch }: Batch, visited: Visited): boolean {
  if (visited.delete(branch)) return true;
  visited.add(branch);
  driver.wake = driver.now;
  return false;
}

function isDue(driver: Driver, due: number): boolean {
  if (driver.now >= due) return true;
  driver.wake = Math.min(driver.wake, due);
  return false;
}

function promote({ truth, now }: Driver, pull: number): void {
  const open = truth.commands.some((said) => !said.answered && said.pull === pull);
  if (!open) say(truth, now, pull, { name: "promote", args: [], actor: "carol", permission: "maintain" });
}

/** Clusters that were put off get the labels of one that is not. */
function takeBack({ truth }: Driver, run: Run, returns: Returns): void {
  for (const { cluster: key, stage, attempts } of run.requeued) {
    const cluster = truth.clusters.get(key);
    const selector = run.spec.stages[stage]?.requeue?.selector;
    const look = returns.get(key);
    if (cluster === undefined || selector === undefined || look === undefined || attempts + 1 < look) continue;
    const labels = matches(selector, cluster) ? labelsWithout(selector, cluster) : undefined;
    if (labels !== undefined) truth.clusters.set(key, { ...cluster, labels });
  }
}

/** The labels with which a selector would leave a cluster alone: without its own, or with what it excludes. undefined: there are none. */
export function labelsWithout({ matchLabels, matchExpressions }: Selector, cluster: Selectable): Record<string, string> | undefined {
  const gone = new Set([...Object.keys(matchLabels), ...matchExpressions.map((one) => one.key)]);
  const kept = Object.fromEntries(Object.entries(cluster.labels).filter(([label]) => !gone.has(label)));
  const tried = [kept];
  for (const { key, operator, values } of matchExpressions) {
    // Where no label has that key, these are the cluster's own, which nobody changes.
    if (key === "name" || key === "server") continue;
    if (operator === "NotIn") tried.push({ ...cluster.labels, [key]: values[0] ?? "" });
    if (operator === "DoesNotExist") tried.push({ ...cluster.labels, [key]: "true" });
  }
  return tried.find((labels) => !matches({ matchLabels, matchExpressions }, { ...cluster, labels }));
}

/** Somebody has to merge what the bot opens. */
export function isByHand({ mode, delivery }: Pick<Rollout, "mode" | "delivery">): boolean {
  return mode !== "Run" || delivery.merge === "Manual";
}

/** Nothing of the run stands against it: nobody merges past a window, a limit or the batch before. */
function isGateOpen(batch: Batch): boolean {
  return hasCode(batch.why, "PULL_MANUAL") || hasCode(batch.why, "MODE_MERGES_NOT");
}
