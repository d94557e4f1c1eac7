/** What a run waits for, as one of a few names that a metric may have as a label. Called by the metrics at each scrape. */
import { causesOf } from "../../base/reason.ts";
import type { Time } from "../../base/time.ts";
import { type Batch, isEnded, type Run } from "../../run/state/run.ts";
import { sinceOf, waitsOn } from "../model/waits-on.ts";
import type { TABLES } from "../reasons/say.ts";

/** The gates by which waits are told. `person`: somebody has to do something. `health`: of Argo CD. `github`: its checks, rules and queue. */
export const WAIT_GATES = [
  ...["person", "approval", "window", "halt", "dependsOn", "limits", "jitter", "analysis", "hooks", "bake", "step"],
  ...["health", "controlPlane", "github", "ending", "other"],
] as const;
type WaitGate = (typeof WAIT_GATES)[number];

type Tables = typeof TABLES;
type Code = { [About in keyof Tables]: keyof Tables[About] }[keyof Tables];

const CODES: Partial<Record<WaitGate, readonly Code[]>> = {
  approval: ["APPROVAL_WANTED", "APPROVER_RELEASED", "APPROVER_MERGED", "APPROVER_TEAMS_UNSEEN", "APPROVER_IN_NO_TEAM"],
  window: ["WINDOW_SHUT", "WINDOWS_NEVER_OPEN", "WINDOWS_NEVER_TOGETHER"],
  halt: ["CLUSTERS_HALTED", "HALTED_IN_QUEUE"],
  dependsOn: ["DEPENDENCIES_UNREAD", "DEPENDENCY_MISSING", "VERSION_UNKNOWN", "VERSION_OTHER", "VERSION_OLDER", "VERSION_INCOMPARABLE"],
  limits: ["LIMITS_OTHERS_UNREAD", "LIMITS_LABELS_UNREAD", "LIMITS_FULL", "BATCH_TOO_LARGE", "BATCH_NEVER_FITS", "WINDOW_FULL"],
  jitter: ["JITTER"],
  analysis: ["ANALYSIS_UNREAD", "ANALYSIS_RUNNING", "ANALYSIS_BEGUN", "ANALYSIS_BEGINS"],
  hooks: ["HOOK_HOLDS_STAGE", "HOOK_AWAITED", "HOOK_UNCLEAR"],
  bake: ["BATCH_BAKING", "BATCH_BAKES"],
  step: ["STEP_AWAITS_PERSON", "STEP_PAUSED"],
  controlPlane: ["PLANE_UNSEEN", "CONFIRMED_UNREADABLE"],
  health: ["CONFIRMED_ILL", "CONFIRMED_READ_AGAIN", "BATCH_AWAITS_HEALTH", "BATCH_UNCONFIRMED"],
  person: ["PULL_MANUAL", "MODE_MERGES_NOT"],
};

const BY_CODE: ReadonlyMap<string, WaitGate> = new Map(
  (Object.entries(CODES) as [WaitGate, Code[]][]).flatMap(([gate, codes]) => codes.map((code) => [code, gate])),
);

const BY_PHASE: Partial<Record<Batch["phase"], WaitGate>> = { Merged: "health", Baking: "bake", Open: "github", Merging: "github" };

/** Returns what a run waits for and since when; undefined: it has ended, or begins just now. */
export function waitOf(run: Run): { gate: WaitGate; since: Time } | undefined {
  if (isEnded(run) || run.phase === "Pending") return undefined;
  const since = sinceOf(run);
  if (run.phase === "Paused") return { gate: run.ending === undefined ? "person" : "ending", since };
  const batch = run.batches.find(({ phase, ahead }) => ahead !== true && phase !== "Settled" && phase !== "Closed");
  const named = causesOf(run.why).map(({ code }) => BY_CODE.get(code));
  const gate = named.find((one) => one !== undefined) ?? personal(run) ?? (batch && BY_PHASE[batch.phase]) ?? "other";
  return { gate, since: batch?.since ?? since };
}

function personal({ why, next }: Run): WaitGate | undefined {
  return waitsOn(why, next)?.kind === "person" ? "person" : undefined;
}
