/** Who is told what: `notifications` of `.github/stagecoach.yaml`, its schema and its rules. Destinations are in the server's configuration. */
import { z } from "zod";
import { key, text } from "./schema-common.ts";

/** What people may be told of. */
export const NOTIFY_EVENTS = ["run.started", "needs-you", "failed", "resumed", "rolled-back", "ended", "refused", "freeze"] as const;

export type NotifyEventName = (typeof NOTIFY_EVENTS)[number];

const name = text.min(1).max(253);

const rule = z.strictObject({
  to: key(name, "A destination of the server's configuration that this repository may use."),
  events: key(
    z.array(z.enum(NOTIFY_EVENTS)).min(1).max(20).optional(),
    "`run.started`; `needs-you`: a person has to act; `failed`: a cluster, a check or the run; `resumed`; `rolled-back`; `ended`; `refused`: a release starts no run; `freeze`: a freeze or `/halt` holds the run. Default: all.",
  ),
  rollouts: key(z.array(name).min(1).max(200).optional(), "Names of rollouts. Default: all."),
  stages: key(
    z.array(name).min(1).max(200).optional(),
    "Names of stages: what happens in others is not told. What happens in none, such as a run's end, is. Default: all.",
  ),
});

export const notificationsSchema = z.array(rule).max(50).default([]);

export type NotifyRule = z.output<typeof rule>;

/** The destinations that are told of an event. */
export function destinationsOf(
  rules: readonly NotifyRule[],
  { event, rollout, stage }: { event: NotifyEventName; rollout?: string | undefined; stage?: string | undefined },
): string[] {
  const fitting = rules.filter(({ events, rollouts, stages }) => {
    if (events?.includes(event) === false) return false;
    // Of a release that names no rollout everybody is told: it may be anybody's.
    if (rollout !== undefined && rollouts?.includes(rollout) === false) return false;
    return stage === undefined || stages?.includes(stage) !== false;
  });
  return [...new Set(fitting.map(({ to }) => to))];
}
