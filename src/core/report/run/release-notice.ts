import type { Run } from "../../run/state/run.ts";
import { code } from "../escape.ts";
import { releaseName } from "../words.ts";

/** On the PR of a release that was merged while a run of its rollout is in progress, and waits or is rejected for it. */
export function releaseNotice(kind: "queued" | "rejected", values: Readonly<Record<string, string>>, { rollout, number }: Run): string {
  const shown = code(releaseName(values).slice(0, 200));
  const run = `Run #${number} of ${code(rollout)}`;
  if (kind === "queued") return `## ⏳ ${shown} is queued\n\n${run} goes on first; this release starts when it has ended.\n`;
  return `## ✖ ${shown} was rejected\n\n${run} was in progress when it was merged (\`onNewRelease: Reject\`). Once that run has ended, \`/retry\` here starts this release.\n`;
}
