import type { HookCall } from "../run/state/hooks-types.ts";
import type { Run } from "../run/state/run.ts";
import type { HookWhen } from "../spec/rollout.ts";
import { sentenceOf } from "./reasons/say.ts";

/** What a hook is told: a CloudEvent 1.0 in structured JSON (https://github.com/cloudevents/spec). */
export interface StageEvent {
  specversion: "1.0";
  /** The same however often it is sent; unique together with `source`. */
  id: string;
  /** `https://github.com/acme/fleet` */
  source: string;
  type: (typeof EVENT_TYPES)[HookWhen];
  /** `ROLLOUT/RUN/STAGE`, by number. */
  subject: string;
  /** When the event came to be, not when it was sent. */
  time: string;
  datacontenttype: "application/json";
  data: StageEventData;
}

interface StageEventData {
  repository: string;
  rollout: string;
  run: number;
  release: Record<string, string>;
  /** Who released it, and the pull request. */
  author: string;
  pull?: number | undefined;
  stage: { name: string; number: number; of: number };
  /** At most 1000 of them. */
  clusters: StageCluster[];
  clusterCount: number;
  /** `failed` events: what has failed, at most 50. */
  failures?: { what: string; why: string }[] | undefined;
}

const EVENT_TYPES = {
  before: "dev.stagecoach.stage.before.v1",
  after: "dev.stagecoach.stage.after.v1",
  onFailure: "dev.stagecoach.stage.failed.v1",
} as const;

interface StageCluster {
  name: string;
  controlPlane: string;
  /** `after` events: what became of it. */
  phase?: string | undefined;
}

const MOST_CLUSTERS = 1000;
/** Of the sentence of a failure. */
const LONGEST = 500;

/** The event of a call. What changes during the call is left out, so that the text is the same for every request. */
export function stageEvent(run: Run, call: HookCall, repo: { repository: string; source: string }): StageEvent {
  const clusters = clustersFor(run, call);
  return {
    specversion: "1.0",
    id: call.id,
    source: repo.source,
    type: EVENT_TYPES[call.when],
    subject: `${run.rollout}/${run.number}/${call.stage + 1}`,
    time: call.since,
    datacontenttype: "application/json",
    data: {
      repository: repo.repository,
      rollout: run.rollout,
      run: run.number,
      release: run.release.values,
      author: run.trigger.author,
      pull: run.trigger.pull,
      stage: { name: run.plan.stages[call.stage]?.name ?? "", number: call.stage + 1, of: run.plan.stages.length },
      clusters: clusters.slice(0, MOST_CLUSTERS),
      clusterCount: clusters.length,
      failures: call.failures?.map(({ what, why }) => ({ what: sentenceOf(what, run), why: sentenceOf(why, run).slice(0, LONGEST) })),
    },
  };
}

function clustersFor(run: Run, { stage, when }: HookCall): StageCluster[] {
  const planned = run.plan.stages[stage];
  const phases = new Map<string, string>();
  if (when === "after") {
    for (const batch of run.batches) {
      if (batch.stage === stage) for (const target of batch.targets) phases.set(target.cluster, target.phase);
    }
    for (const one of run.skipped) phases.set(one.cluster, "Skipped");
  }
  return [...(planned?.clusters ?? []), ...(planned?.requeued ?? [])].map((key) => {
    const slash = key.indexOf("/");
    return { name: key.slice(slash + 1), controlPlane: key.slice(0, slash), phase: phases.get(key) };
  });
}
