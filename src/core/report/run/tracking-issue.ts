import type { Release } from "../../plan/plan-types.ts";
import { cell, code } from "../escape.ts";
import { releaseName } from "../words.ts";

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
