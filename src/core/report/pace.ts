import { formatDuration } from "../base/time.ts";

/** Said in the run's comment while GitHub's hour for the App is nearly used up. */
export function paceRemark(rate: { limit: number; remaining: number; resetAt: number }, everyMs: number): string {
  const until = new Date(rate.resetAt).toISOString().slice(11, 16);
  return `GitHub's limit for this App is nearly used up (${rate.remaining} of ${rate.limit} calls left until ${until} UTC): Stagecoach looks every ${formatDuration(everyMs)} until then, and edits this comment only where something needs you.`;
}
