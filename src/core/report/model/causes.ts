/** What a failure comes from: in Argo CD's words of an Application, in figures of an analysis. Called by the builders of the model. */
import { type AnyReason, causesOf } from "../../base/reason.ts";
import type { AnalysisMetric, RunAnalysis } from "../../run/state/analysis-types.ts";
import type { HookCall } from "../../run/state/hooks-types.ts";
import { clusterName } from "../../run/state/names.ts";
import type { BatchTarget, Run } from "../../run/state/run.ts";
import { present } from "../markdown.ts";
import { isToldIn, plainSentence } from "../reasons/say.ts";
import { type Context, explainNode } from "./context.ts";
import { limitOf } from "./limits.ts";
import type { Cause, Measured } from "./types.ts";

const MOST_ROLLOUTS = 3;

/** Of a failed target: its worst resources where Argo CD named them, its unhealthy Rollouts, else what Argo CD says of the Application. */
export function causeOfTarget({ run, linkTo }: Context, target: BatchTarget): Cause {
  const { key, application, cluster, rollouts = [], evidence, why } = target;
  const words = evidence?.sentence ?? why;
  const [said] = causesOf(words).toReversed();
  const ill = rollouts.filter(({ phase }) => phase === "Degraded").slice(0, MOST_ROLLOUTS);
  const parts = ill.map(({ namespace, name, message }) => `Rollout ${namespace}/${name} is Degraded${message ? `: ${message}` : ""}`);
  const { unwell } = evidence?.fields ?? {};
  // What is wrong with each says more than what is said of the whole.
  if (parts.length === 0 && typeof unwell === "string") parts.push(unwell);
  const text = said === undefined ? "" : messageOf(said, run);
  return {
    kind: "application",
    name: run.plan.targetBy === "application" ? application : `${application} on ${clusterName(run, cluster)}`,
    says: present(...parts, parts.length === 0 && text).join("; "),
    link: linkTo(key),
  };
}

/** Argo CD's own words where the reason holds some, else the reason's sentence. */
function messageOf(reason: AnyReason, run: Run): string {
  const { message } = reason;
  return typeof message === "string" && message !== "" ? message : plainSentence(reason, run);
}

const BAD: ReadonlySet<string> = new Set(["Failed", "Error", "Inconclusive"]);

/** Of an analysis or a hook that did not pass; undefined: it did, or is not over. */
export function causeOfCheck(context: Context, check: RunAnalysis | HookCall): Cause | undefined {
  if (!BAD.has(check.phase) || check.accepted !== undefined) return undefined;
  const { says } = explainNode(context, check.why);
  if ("tries" in check) return { kind: "hook", name: "", says };
  const bad = (check.metrics ?? []).filter(({ phase }) => BAD.has(phase));
  return { kind: "analysis", name: bad.map(({ name }) => name).join(", "), says, measured: bad.map(measuredOf) };
}

function measuredOf(metric: AnalysisMetric): Measured {
  const { name, value, message = "" } = metric;
  const limit = limitOf(metric);
  // Of what could not be measured it counts why, not what it had to be.
  return { metric: name, value: value ?? "", limit: value === undefined ? message || limit : limit || message };
}

/** Marks a cause that the sentence of the node it stands at holds already, so that it is said once. */
export function causeBeside(says: string, cause: Cause | undefined): Cause | undefined {
  return cause && { ...cause, told: cause.measured === undefined && isToldIn(says, cause.says) ? true : undefined };
}

/** The worst first: what failed, then what could not be told. */
export function worstCause(causes: readonly Cause[]): Cause | undefined {
  return causes.find(({ says, measured }) => says !== "" || measured !== undefined) ?? causes[0];
}
