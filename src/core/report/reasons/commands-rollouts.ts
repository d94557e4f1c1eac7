import { count } from "../../base/count.ts";
import type { AnyReason } from "../../base/reason.ts";
import type { CommandReasons } from "../../reasons/commands.ts";
import { entriesOf } from "./entry.ts";
import type { Names } from "./phrases.ts";

function listed(reasons: readonly AnyReason[], more: number, names: Names): string {
  const some = reasons.map((reason) => names.because(reason)).join("; ");
  return more > 0 ? `${some}; and ${more} more` : some;
}

const ROLLOUTS_DONE_WORDS: Record<string, string> = {
  resume: "resumed",
  "promote-full": "promoted to the end",
  abort: "aborted",
  retry: "tried again",
};

/** What came of commands with `--rollouts`. */
export const ROLLOUT_COMMANDS = entriesOf<CommandReasons>()({
  NOT_OF_ROLLOUTS: { subject: "application", says: "`/{command}` does nothing to Argo Rollouts" },
  ROLLOUTS_NOT_MERGED: {
    subject: "application",
    says: "nothing of the batch is merged yet, so its Argo Rollouts are those of the release before",
  },
  ROLLOUTS_TOO_MANY: {
    subject: "application",
    says: "{count} Rollouts are more than one command acts on: comment it on a batch's pull request",
  },
  ROLLOUTS_ORDERED: { subject: "application", says: "@{by} asked to {action} the Rollouts of {clusters}" },
  ROLLOUTS_UNSEEN: {
    subject: "application",
    says: "nothing was done: the <clusters> of a batch move together, and Stagecoach cannot read {cluster}: {because}",
  },
  ROLLOUTS_ALL_UNSEEN: { subject: "application", says: ({ left }, names) => listed(left, 0, names) },
  ROLLOUT_UNSEEN: { subject: "application", says: "{cluster}: {because}" },
  ROLLOUT_STATE: {
    subject: "application",
    says: (state, names) => `${names.cluster(state.cluster)} ${state.name} (${rolloutPhrase(state)})`,
  },
  ROLLOUT_NOT_TRIED: { subject: "application", says: "there was no time to try it" },
  ROLLOUTS_BROKEN: {
    subject: "application",
    actions: ["retry"],
    says: ({ rollouts, more }, names) =>
      `${listed(rollouts, more, names)}: a Rollout that is aborted or degraded is not promoted; \`/retry --rollouts\` first`,
  },
  ROLLOUTS_BEHIND: {
    subject: "application",
    says: ({ rollouts, more }, names) =>
      `the Rollouts of the batch are not at one step yet. Behind: ${listed(rollouts, more, names)}. Comment again once they are paused there`,
  },
  ROLLOUTS_NONE: { subject: "application", says: "the batch has no Argo Rollouts" },
  ROLLOUTS_NONE_SUCH: {
    subject: "application",
    says: ({ wanted, rollouts, more }, names) => `no Argo Rollout of the batch is ${wanted}: ${listed(rollouts, more, names)}`,
  },
  ROLLOUTS_DONE: {
    subject: "application",
    says: ({ action, also, done, clusters, failed, left }, names) => {
      const word = ROLLOUTS_DONE_WORDS[action] ?? action;
      const parts = also === undefined ? [] : [names.because(also)];
      if (done > 0) parts.push(`${word}: ${count(done, "Argo Rollout")} on ${names.clusters(clusters)}`);
      for (const { cluster, name, because } of failed)
        parts.push(`not ${word}: ${names.cluster(cluster)} ${name}: ${names.because(because)}`);
      if (left.length > 0) parts.push(`left as they are: ${listed(left, 0, names)}`);
      return parts.join("; ").slice(0, 2000);
    },
  },
});

/** How an Argo Rollout stands: `Paused at step 1/4`. */
export function rolloutPhrase({
  phase,
  paused,
  step,
  steps,
}: {
  phase: string;
  paused: boolean;
  step?: number | undefined;
  steps?: number | undefined;
}): string {
  const word = paused && phase !== "Degraded" ? "Paused" : phase;
  return step === undefined || steps === undefined ? word : `${word} at step ${Math.min(step, steps)}/${steps}`;
}
