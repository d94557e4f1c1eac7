import type { IndexEntry } from "../../../adapters/git/journal/port.ts";
import { iso } from "../../../core/base/time.ts";
import { code } from "../../../core/report/escape.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { releaseName } from "../../../core/report/words.ts";
import { onOverlap } from "../../../core/run/outcome/overlap.ts";
import { supersede } from "../../../core/run/start.ts";
import type { Run } from "../../../core/run/state/run.ts";
import { type Command, notAllowed } from "../../../core/spec/commands.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import type { FoundRelease } from "../../config-repo/releases.ts";
import type { PlanProblem } from "../../resolve/make-plan.ts";
import type { RepoContext } from "../context.ts";
import type { Notice } from "./start-observed.ts";

/** What starting the runs of one rollout came to. */
export interface Started {
  entry?: IndexEntry;
  /** New or superseded runs to record. */
  runs: Run[];
  events: string[];
  /** Why a release cannot start yet, shown on its PR. */
  refused?: { pull: number | undefined; problems: readonly PlanProblem[] };
  /** Said on the PR of a release that starts no run by its mode. */
  notice?: Notice;
  /** Look again soon although nothing was recorded. */
  waiting: boolean;
}

/** What becomes of a release that was merged while a run of its rollout is in progress. `pull`: where it is spoken of. */
export function overlapped(
  rollout: Pick<Rollout, "name" | "onNewRelease">,
  entry: IndexEntry,
  inProgress: Run,
  newest: FoundRelease,
  input: { pull: number | undefined; base: string; now: number },
): Started {
  const { pull, base, now } = input;
  const name = Object.values(newest.release.values).join(", ");
  const shown = code(releaseName(newest.release.values).slice(0, 200));
  const notice = (body: string) => (pull === undefined ? {} : { notice: { pull, body } });
  switch (onOverlap(rollout.onNewRelease, inProgress)) {
    case "Supersede":
      return standAside(inProgress, newest, now);
    case "Queue":
      return {
        runs: [],
        events: [],
        // The end of the run is a transition, and the round after it starts this one.
        waiting: false,
        ...notice(
          `## ⏳ ${shown} is queued\n\nRun #${inProgress.number} of ${code(rollout.name)} goes on first; this release starts when it has ended.\n`,
        ),
      };
    case "Reject": {
      const { values, attempt } = newest.release;
      const rejected = { values, attempt, commit: newest.commit.sha, at: iso(now), ...(pull === undefined ? {} : { pull }) };
      return {
        entry: { ...entry, cursor: base, rejected },
        runs: [],
        events: [`${rollout.name}: ${name} was rejected: #${inProgress.number} is in progress`],
        waiting: false,
        ...notice(
          `## ✖ ${shown} was rejected\n\nRun #${inProgress.number} of ${code(rollout.name)} was in progress when it was merged (\`onNewRelease: Reject\`). Once that run has ended, \`/retry\` here starts this release.\n`,
        ),
      };
    }
  }
}

/** The run in progress makes way; the new one starts once its PRs are observed closed or merged. */
export function standAside(before: Run, newest: FoundRelease, now: number): Started {
  return {
    runs: [supersede(before, { values: newest.release.values, commit: newest.commit.sha }, now)],
    events: [`${before.rollout} #${before.number}: makes way for ${Object.values(newest.release.values).join(", ")}`],
    waiting: true,
  };
}

/** `/retry` on the PR of a rejected release, if somebody who may has written it and nothing is in progress. Every other command there is answered. */
export async function retryOfRejected(
  context: RepoContext,
  rollout: string,
  entry: IndexEntry,
  inProgress: Run | undefined,
): Promise<{ found: FoundRelease; command: Command } | undefined> {
  const { rejected } = entry;
  if (rejected?.pull === undefined) return undefined;
  let wanted: Command | undefined;
  for (const command of await context.commands.read(rollout, [{ number: rejected.pull, shared: false }])) {
    const why = refusal(command, inProgress);
    if (why === undefined && wanted === undefined) wanted = command;
    else await context.commands.answer(command, "refused", why ?? "it is being started already");
  }
  if (wanted === undefined) return undefined;
  const commit = await context.mirror.commitInfo(rejected.commit);
  if (commit === undefined) return undefined;
  return { command: wanted, found: { release: { values: rejected.values, attempt: rejected.attempt }, commit } };
}

function refusal(command: Command, inProgress: Run | undefined): string | undefined {
  if (command.name !== "retry") return "this release was rejected, and has no run; `/retry` starts it";
  const denied = notAllowed(command);
  if (denied !== undefined) return sentenceOf(denied);
  return inProgress === undefined ? undefined : `run #${inProgress.number} is in progress: say it again once it has ended`;
}
