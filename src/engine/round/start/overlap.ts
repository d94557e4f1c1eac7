import type { IndexEntry } from "../../../adapters/git/journal/port.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { iso } from "../../../core/base/time.ts";
import { engineReason } from "../../../core/reasons/engine.ts";
import { releaseNotice } from "../../../core/report/run/release-notice.ts";
import { onOverlap } from "../../../core/run/outcome/overlap.ts";
import { supersede } from "../../../core/run/start.ts";
import type { Run } from "../../../core/run/state/run.ts";
import { type Command, notAllowed } from "../../../core/spec/commands.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import type { FoundRelease } from "../../config-repo/releases.ts";
import type { RepoContext } from "../context.ts";
import type { StartedRun } from "./started.ts";

/** Judges a release that was merged while a run of its rollout is in progress. `pull`: where it is spoken of. */
export function judgeOverlap(
  rollout: Pick<Rollout, "onNewRelease">,
  entry: IndexEntry,
  inProgress: Run,
  newest: FoundRelease,
  { pull, base, now }: { pull: number | undefined; base: string; now: number },
): StartedRun {
  const { values, attempt } = newest.release;
  const notice = (kind: "queued" | "rejected") =>
    pull === undefined ? undefined : { pull, body: releaseNotice(kind, values, inProgress) };
  switch (onOverlap(rollout.onNewRelease, inProgress)) {
    case "Supersede":
      return standAside(inProgress, newest, now);
    case "Queue":
      // The end of the run is a transition, and the round after it starts this one.
      return { events: [], waiting: false, notice: notice("queued") };
    case "Reject":
      return {
        entry: { ...entry, cursor: base, rejected: { values, attempt, commit: newest.commit.sha, at: iso(now), pull } },
        events: [{ reason: engineReason("RELEASE_REJECTED", { values, run: inProgress.number }) }],
        waiting: false,
        notice: notice("rejected"),
      };
  }
}

/** The run in progress makes way; the new one starts once its PRs are observed closed or merged. */
export function standAside(before: Run, { release: { values }, commit }: FoundRelease, now: number): StartedRun {
  return {
    run: supersede(before, { values, commit: commit.sha }, now),
    events: [{ run: before.number, reason: engineReason("RUN_MAKES_WAY", { values }) }],
    waiting: true,
  };
}

/** `/retry` on the PR of a rejected release, if somebody who may has written it and nothing is in progress. Every other command there is answered. */
export async function retryOfRejected(
  { commands, mirror }: Pick<RepoContext, "commands" | "mirror">,
  rollout: string,
  { rejected }: IndexEntry,
  inProgress: Run | undefined,
): Promise<{ found: FoundRelease; command: Command } | undefined> {
  if (rejected?.pull === undefined) return undefined;
  let wanted: Command | undefined;
  for (const command of await commands.read(rollout, [{ number: rejected.pull, shared: false }])) {
    const why = refusal(command, inProgress);
    if (why === undefined && wanted === undefined) wanted = command;
    else await commands.answer(command, "refused", why ?? engineReason("RELEASE_STARTS_ALREADY"));
  }
  if (wanted === undefined) return undefined;
  const commit = await mirror.commitInfo(rejected.commit);
  if (commit === undefined) return undefined;
  return { command: wanted, found: { release: { values: rejected.values, attempt: rejected.attempt }, commit } };
}

function refusal(command: Command, inProgress: Run | undefined): AnyReason | undefined {
  if (command.name !== "retry") return engineReason("RELEASE_HAS_NO_RUN");
  return notAllowed(command) ?? (inProgress && engineReason("RUN_GOES_ON", { run: inProgress.number }));
}
