import { onOverlap } from "../../run/outcome/overlap.ts";
import type { Run } from "../../run/state/run.ts";
import type { Rollout } from "../../spec/rollout.ts";
import { cell, code } from "../escape.ts";
import { sentenceOf } from "../reasons/say.ts";
import { releaseName, runNumber, stageName } from "../words.ts";

/** What merging a release PR would do to the run of the same rollout that is in progress (`onNewRelease`). */
export interface Overlap {
  /** The release must not be merged now: the check fails. */
  rejected: boolean;
  /** Markdown, harmless. */
  sentence: string;
}

export function overlap(rollout: Pick<Rollout, "onNewRelease">, run: Run): Overlap {
  const where = run.stage < run.plan.stages.length ? ` in stage ${cell(stageName(run, run.stage), 100)}` : "";
  const state = run.paused === undefined ? "in progress" : "paused";
  const now = `Run ${runNumber(run.number)} (${code(releaseName(run.release.values).slice(0, 200))}) is ${state}${where}.`;
  const says = (text: string) => ({ rejected: false, sentence: `${now} ${text}` });
  if (run.ending !== undefined)
    return says(`It is ending: ${cell(sentenceOf(run.ending.reason, run), 300)}; this release starts after it.`);
  const policy = `\`onNewRelease: ${rollout.onNewRelease}\``;
  switch (onOverlap(rollout.onNewRelease, run)) {
    case "Supersede": {
      const why = run.paused?.kind === "Failure" && rollout.onNewRelease === "Queue" ? `it is paused on a failure, ${policy}` : policy;
      return says(
        `**Merging this PR ends it** (${why}): its open pull requests are closed, what it has in flight is confirmed or has failed first, then this release starts.`,
      );
    }
    case "Queue":
      return says(`Merging this PR leaves it alone (${whyQueued(rollout, run)}): this release waits until it has ended.`);
    case "Reject": {
      const text = `**This release is rejected while it goes on** (${policy}): merge this PR after it has ended, or \`/abort\` it.`;
      return { ...says(text), rejected: true };
    }
  }
}

/** A rollback is never cut short, and releases that come too fast do not starve a run. */
function whyQueued(rollout: Pick<Rollout, "onNewRelease">, run: Run): string {
  if (rollout.onNewRelease === "Queue") return "`onNewRelease: Queue`";
  return run.kind === "Rollback" ? "it is a rollback" : "too many runs before it never got to their end";
}
