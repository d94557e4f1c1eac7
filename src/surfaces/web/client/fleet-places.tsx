/** What of the repositories themselves is to be said, and why there is nothing to show: each case by its own sentence. */
import type { Fleet, FleetRepository } from "../../../core/report/model/schema/fleet.ts";

const MOST_NAMED = 5;

export function Places({ of }: { of: readonly FleetRepository[] }) {
  const held = of.filter(({ state, attention }) => state === "Held" && attention.length === 0);
  const idle = of.reduce((sum, { idleCount }) => sum + idleCount, 0);
  return (
    <>
      {of.flatMap(({ repository, attention }) =>
        attention.map((text) => <p class="ask" key={`${repository} ${text}`}>{`${repository}: ${text}`}</p>),
      )}
      {held.map(({ repository }) => (
        <p class="ask" key={repository}>{`${repository}: its journal cannot be read now. What is shown of it is from before.`}</p>
      ))}
      {idle === 0 ? null : (
        <p class="quiet">{`No run yet of ${names(
          of.flatMap((one) => one.idle),
          idle,
        )}. Merge a release PR to start one.`}</p>
      )}
    </>
  );
}

/** Nothing is there, or nothing that the search wants. */
export function FleetEmpty({ of }: { of: Fleet }) {
  return <p class="quiet">{sentenceOf(of)}</p>;
}

function sentenceOf({ at, isWhole, rollouts, releases, repositories }: Fleet): string {
  if (rollouts.length + releases.length > 0) return "No rollout is like that.";
  if (at !== undefined) return "No run had begun at that moment, as far as the journals know.";
  if (repositories.length === 0 && !isWhole) return "There is no rollout here that GitHub shows you.";
  if (repositories.length === 0) return "The App is installed on no repository yet. Install it on your config repo, and it appears here.";
  const reading = repositories.filter(({ state }) => state === "Reading");
  if (reading.length > 0)
    return `The bot is still reading ${names(
      reading.map(({ repository }) => repository),
      reading.length,
    )}.`;
  if (repositories.some(({ state, attention }) => state === "Held" || attention.length > 0)) return "Nothing else can be shown.";
  if (repositories.some(({ idleCount }) => idleCount > 0)) return "Nothing has been released yet.";
  return `There is no rollout in ${names(
    repositories.map(({ repository }) => repository),
    repositories.length,
  )} yet: add one below rollouts/, or merge the pull request that proposes one.`;
}

function names(of: readonly string[], count: number): string {
  const shown = of.slice(0, MOST_NAMED);
  return `${shown.join(", ")}${count > shown.length ? ` and ${count - shown.length} more` : ""}`;
}
