import { count } from "../../base/count.ts";
import type { AnyReason } from "../../base/reason.ts";
import { formatSelector } from "../../base/selector.ts";
import { formatDuration, type Time } from "../../base/time.ts";
import { isOwnLimit } from "../../plan/limits.ts";
import type { BareBranch, BranchRule } from "../../reasons/gates.ts";
import type { OverLimit } from "../../reasons/problems/plan.ts";
import type {
  AnalysisRef,
  BatchRef,
  CheckRef,
  HookRef,
  PullRef,
  SourceNamed,
  WaitNamed,
  WindowOwner,
  WindowScope,
} from "../../reasons/refs.ts";
import type { NextStepRef, WaitRef } from "../../reasons/stages.ts";
import { SETTINGS_FILE } from "../../spec/repo-config.ts";
import type { TargetBy } from "../../spec/rollout.ts";
import { firstOf } from "../markdown.ts";

/** How a view says what a reason names by key, or holds as its cause. */
export interface Names {
  /** A cluster's short name, where its key is unique by it. */
  cluster(key: string): string;
  /** At most `most` (5) names, then how many more; "nothing" for none. */
  clusters(keys: Iterable<string>, most?: number): string;
  /** What the run counts. Absent: clusters. */
  targetBy?: TargetBy | undefined;
  /** The sentence of a reason within another: it begins small and has no stop. */
  because(words: AnyReason): string;
}

export const BATCH_NOUNS: Record<BatchRef["kind"], string> = {
  Planned: "batch",
  CatchUp: "catch-up batch",
  Hotfix: "hotfix batch",
  Revert: "revert batch",
};

/** Names a batch: `batch 2 of stage "eu-west-1"`. */
export function batchPhrase(batch: BatchRef): string {
  return `${BATCH_NOUNS[batch.kind]} ${batch.number} of stage "${batch.stage}"${stepPhrase(batch)}`;
}

/** Says which step a batch is: `, step 2 of 3 (weight 60)`; nothing of a batch without steps. */
export function stepPhrase({ step }: Pick<BatchRef, "step">): string {
  return step === undefined ? "" : `, step ${step.index} of ${step.of} (weight ${step.weight})`;
}

/** Says whose windows they are: `.github/stagecoach.yaml (region=eu)`. */
export function ownerPhrase(owner: WindowOwner): string {
  return `${ownName(owner)}${inBrackets(scopePhrase(owner.only))}`;
}

function ownName(owner: WindowOwner): string {
  if (owner.kind === "Rollout") return "the rollout";
  if (owner.kind === "Stage") return `stage "${owner.stage}"`;
  return owner.kind === "File" ? owner.file : "the server";
}

/** Says whom a window, a freeze or a limit is for: `region=eu; stages prod`; empty: everybody. */
export function scopePhrase({ selector, rollouts, stages }: WindowScope = {}): string {
  return [selector, rollouts && `rollouts ${rollouts.join(", ")}`, stages && `stages ${stages.join(", ")}`]
    .filter((part) => part !== undefined && part !== "")
    .join("; ");
}

/** Names a batch's PR; where it has none, because it moves branches, what takes its place. */
export function pullPhrase(pull: PullRef): string {
  return pull === null || pull === 0 ? "the fast-forward" : `#${pull}`;
}

/** Names what `/promote` ends: `the bake of batch 2 of stage "eu-west-1"`. */
export function promotedPhrase({ kind, batch, pull }: WaitNamed): string {
  if (kind === "pull") return `${pullPhrase(pull)}, which waited for a person`;
  return `the ${kind === "bake" ? "bake" : "wait"} of ${batchPhrase(batch)}`;
}

/** Says what `/promote` does to it now. */
export function endPhrase({ kind, batch, pull }: WaitNamed): string {
  if (kind === "pull") return `let Stagecoach merge ${pullPhrase(pull)} (${batchPhrase(batch)})`;
  return `end the ${kind === "bake" ? "bake" : "wait"} of ${batchPhrase(batch)}`;
}

/** Names an analysis: `analysis webcheck of batch 2 of stage "eu-west-1" on eu-1`. */
export function analysisPhrase({ templates, background, of, cluster }: AnalysisRef, names: Names): string {
  const what = `${background === true ? "background analysis" : "analysis"} ${templates.join(", ")}`;
  const where = cluster === undefined ? "" : ` on ${names.cluster(cluster)}`;
  return `${what} of ${"number" in of ? batchPhrase(of) : `stage "${of.stage}"`}${where}`;
}

/** Names a hook: `hook 1 before stage "eu-west-1" (hooks.example.com)`. */
export function hookPhrase({ number, when, stage, host }: HookRef): string {
  const place = when === "onFailure" ? `on failure of stage "${stage}"` : `${when} stage "${stage}"`;
  return `hook ${number} ${place}${host === "" ? "" : ` (${host})`}`;
}

/** Names an analysis or a hook, as the subject of a sentence. */
export function checkPhrase(check: CheckRef, names: Names): string {
  return "host" in check ? hookPhrase(check) : `the ${analysisPhrase(check, names)}`;
}

/** Names what owns Applications: `ApplicationSet argocd/payments`, or by its selector where it has no name. */
export function sourcePhrase({ kind, namespace, name, names, selector }: SourceNamed): string {
  if (name !== "") return `${kind} ${namespace}/${name}`;
  if (names !== undefined) return `${kind}s ${firstOf(names, 3)} of ${namespace}`;
  const every = selector === undefined || Object.keys(selector.matchLabels).length + selector.matchExpressions.length === 0;
  return every ? `all ${kind}s of ${namespace}` : `${kind}s of ${namespace} with ${formatSelector(selector)}`;
}

/** Says whether a source is the Applications or the sets of a selector, or several sets. */
export function isSeveral({ name }: SourceNamed): boolean {
  return name === "";
}

/** Names people or teams of GitHub: `@bob, @carol`. */
export function people(logins: readonly string[], between = ", "): string {
  return logins.map((login) => `@${login}`).join(between);
}

/** A moment by the clock of a time zone: `09:00 in Europe/Rome on Tue 24 Nov`. */
export function inZone(at: Time, timeZone: string): string {
  const format = {
    timeZone,
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  } as const;
  const parts = new Intl.DateTimeFormat("en-GB", format).formatToParts(new Date(at));
  const [weekday, day, month, hour, minute] = (["weekday", "day", "month", "hour", "minute"] as const).map(
    (type) => parts.find((part) => part.type === type)?.value ?? "",
  );
  return `${hour}:${minute} in ${timeZone} on ${weekday} ${day} ${month}`;
}

/** Says whose limits they are, and whom they count: `the repo's limits (env=prod)`. */
export function limitsPhrase({ setting, only }: OverLimit): string {
  return `${isOwnLimit(setting) ? "the rollout's limits" : "the repo's limits"}${inBrackets(scopePhrase(only))}`;
}

/** Names a limit, where it stands, and whom it counts. `repo`: what the repo's settings are called there. */
export function limitPhrase({ setting, only }: OverLimit, repo = SETTINGS_FILE): string {
  return `${setting} of ${isOwnLimit(setting) ? "the rollout" : repo}${inBrackets(scopePhrase(only))}`;
}

function inBrackets(text: string): string {
  return text === "" ? "" : ` (${text})`;
}

/** Says what is more than a limit allows: `3 clusters`, `2 clusters with region=eu`. */
export function whatIsOver({ setting, have, label }: OverLimit): string {
  const what = count(have, setting.endsWith(".targets") ? "target" : "cluster");
  return label === undefined ? what : `${what} with ${label.key}=${label.value}`;
}

/** Names branches that others may write to, with what they may do: `stagecoach/journal (create, update)`. */
export function bareBranches(bare: readonly BareBranch[]): string {
  return bare.map(({ branch, lacks }) => `${branch} (${lacks.map((rule) => MAY[rule]).join(", ")})`).join(" and ");
}

const MAY: Record<BranchRule, string> = { creation: "create", update: "update", deletion: "delete" };

const ISSUES: Readonly<Record<string, string>> = {
  NoApplication: "no Application",
  BeingDeleted: "being deleted",
  ClusterUnreachable: "cluster unreachable",
  SyncUnknown: "sync Unknown",
  OperationFailed: "operation Failed",
  NeverInSync: "OutOfSync after its sync",
};

/** Names a health issue of an Application; what Argo CD calls so itself stays as it is. */
export function issuePhrase(issue: string): string {
  return ISSUES[issue] ?? issue;
}

/** Names what is waited for between two weights: `analysis webcheck`, `pause of 10m`. */
export function waitPhrase(wait: WaitRef): string {
  if ("templates" in wait) return `analysis ${wait.templates.join(", ")}`;
  return wait.forMs === undefined ? "pause until `/promote`" : `pause of ${formatDuration(wait.forMs)}`;
}

/** Names what follows such a wait: `the pause of 10m`, `step 2 of 3`. */
export function nextStepPhrase(next: NextStepRef): string {
  if (next === null) return "what follows";
  return "index" in next ? `step ${next.index} of ${next.of}` : `the ${waitPhrase(next)}`;
}

/** Says the time of the day: `14:05:09 UTC`. */
export function clock(time: string): string {
  return `${time.slice(11, 19)} UTC`;
}

/** Says how often: `once`, `twice`, `5 times`. */
export function countedTimes(n: number): string {
  return n === 1 ? "once" : n === 2 ? "twice" : `${n} times`;
}

/** At most three names, then how many more. */
export function few(names: readonly string[]): string {
  return names.length <= 3 ? names.join(", ") : `${names.slice(0, 3).join(", ")} and ${names.length - 3} more`;
}

/** Shortens a commit. */
export function sha(commit: string): string {
  return commit.slice(0, 10);
}

/** Names a release by its values. */
export function release({ values }: { values: Readonly<Record<string, string>> }): string {
  return Object.values(values).join(", ");
}

/** Puts a stop at the end of a sentence that has none. */
export function addStop(text: string): string {
  const line = text.trim();
  return line === "" || /[.!?…]\)?$/.test(line) ? line : `${line}.`;
}

/** Of a pin that somebody changed, or whose place a file takes. */
export function pinSince(seen: string, merged: string, by: string, override: string | undefined): string {
  if (override === undefined)
    return `commit ${by} changed the pin after ${merged} of this run, and Argo CD has seen it (at ${seen}); a person has to say which of the two counts`;
  return `commit ${by} wrote ${override} after ${merged} of this run, and Argo CD has seen it (at ${seen}): what stands there takes the place of the pin, so remove the file, and switch off what writes it`;
}

/** Says a value that a pin has: ids of commits and trees are shortened. */
export function pinPhrase(value: string): string {
  // What is to be gone has no value.
  if (value === "") return "nothing";
  return /^[0-9a-f]{40}$/.test(value) ? sha(value) : value;
}

/** Why what a child set makes cannot be told. */
export function childSet({ set, seen, said }: { set: string; seen: boolean; said?: string | undefined }): string {
  if (said !== undefined)
    return `The controller of ApplicationSet ${set} reports an error, so what it makes may be of before: ${addStop(said)}`;
  if (seen) return `The controller of ApplicationSet ${set} has not generated anything from it yet.`;
  return `Stagecoach does not see ApplicationSet ${set}, so it cannot tell what that makes: let it read ApplicationSets, or select their Applications as targets.`;
}
