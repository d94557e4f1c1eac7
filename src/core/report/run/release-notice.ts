import type { Release } from "../../plan/plan-types.ts";
import type { Run } from "../../run/state/run.ts";
import { cell, code } from "../escape.ts";
import { releaseName, runNumber } from "../words.ts";

/** The issue of a release that came without a PR. The run's live page is a comment on it, so this stays as it is. */
export function trackingIssue(rollout: string, release: Release, commit: { sha: string; author: string }): { title: string; body: string } {
  const version = releaseName(release.values);
  const again = release.attempt > 1 ? ` (attempt ${release.attempt})` : "";
  const title = `${rollout}: ${version.replace(/\s+/g, " ").slice(0, 150)}${again}`;
  const body = [
    `Release ${code(version.slice(0, 300))} of **${cell(rollout)}** came without a pull request: commit ${code(commit.sha.slice(0, 10))} by ${cell(commit.author, 100)}.`,
    "The run is shown and steered here: comment `/pause`, `/skip CLUSTER`, `/requeue CLUSTER`, `/abort`, or `/help` for all of them.",
    "<sub>Closing this issue changes nothing: `/abort` ends the run.</sub>",
  ];
  return { title, body: body.join("\n\n") };
}

/** A comment of its own when a run begins from a release that was merged long before: an edit would notify nobody. */
export function lateStart({ rollout, number, release, trigger, startedAt }: Run): string {
  const since = trigger.refusedAt === undefined ? "" : ` since ${trigger.refusedAt.slice(0, 16).replace("T", " ")} UTC`;
  return `## ▶ Run ${runNumber(number)} of ${code(rollout)} has begun\n\n${code(releaseName(release.values).slice(0, 200))} was merged before, and refused${since}. What stood against it is over, so its run began at ${startedAt.slice(0, 16).replace("T", " ")} UTC. \`/pause\` holds it, \`/abort\` ends it.\n`;
}

/** Writes the comment on a release that was merged while a run of its rollout goes on. */
export function releaseNotice(kind: "queued" | "rejected", values: Readonly<Record<string, string>>, { rollout, number }: Run): string {
  const shown = code(releaseName(values).slice(0, 200));
  const run = `Run ${runNumber(number)} of ${code(rollout)}`;
  if (kind === "queued") return `## ⏳ ${shown} is queued\n\n${run} goes on first; this release starts when it has ended.\n`;
  return `## ✖ ${shown} was rejected\n\n${run} was in progress when it was merged (\`onNewRelease: Reject\`). Once that run has ended, \`/retry\` here starts this release.\n`;
}
