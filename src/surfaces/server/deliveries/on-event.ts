import type { Repos } from "../tenancy/repos.ts";
import type { ServedRepo } from "../tenancy/served-repo.ts";
import type { BotEvent } from "./inbox.ts";

interface EventHandlerOptions {
  repos: Repos;
  wake(repository: string): void;
  /** What the App is installed on may have changed. */
  rediscover(): void;
}

/** Of where the App is, and of what becomes of a repository as a whole: renamed, archived, made anew. */
const REPOSITORY_EVENTS = /^(installation|installation_repositories|installation_target|repository|organization)$/;
/** The base or a PR's head may have moved. Whoever writes a command has often just put something right, too. */
const MOVING_EVENTS = new Set(["push", "pull_request", "issue_comment", "merge_group", "create", "release"]);
/** A comment on an open release PR may ask for its plan. */
const PULL_EVENTS = new Set(["pull_request", "push", "issue_comment", "merge_group", "create"]);

/** Turns an event into what to look at again. It is believed in nothing else, so it may be late, doubled or lost. */
export function eventHandler({ repos, wake, rediscover }: EventHandlerOptions): (event: BotEvent) => void {
  return (event) => {
    if (REPOSITORY_EVENTS.test(event.name)) {
      if (event.action === "new_permissions_accepted") permissionsAccepted(event);
      rediscover();
      return;
    }
    const repository = event.repository?.toLowerCase();
    if (repository === undefined || !repos.has(repository)) return;
    const served = repos.get(repository);
    if (served !== undefined) {
      if (isOurs(served, event)) return;
      note(served, event);
    }
    wake(repository);
  };

  /** What the App was refused before, or could not see, it may now. */
  function permissionsAccepted({ installationId }: BotEvent): void {
    for (const served of repos.opened()) {
      if (served.installationId !== installationId) continue;
      served.memory.permissions.suspect();
      served.memory.people.forgetTeams();
      served.memory.remote.hear();
      served.pullsNeedFetch = true;
      wake(served.context.repository.toLowerCase());
    }
  }
}

/** What we did ourselves is looked at without being told, but for what a merge queue does in our name. */
function isOurs(served: ServedRepo, event: BotEvent): boolean {
  if (event.sender !== served.login || event.name === "merge_group") return false;
  return !(event.name === "pull_request" && event.action === "closed");
}

function note(served: ServedRepo, event: BotEvent): void {
  if (event.pull !== undefined && event.name === "issue_comment") served.inbox.touched(event.pull);
  if (event.sender === served.login) return;
  // What somebody has just said in a review counts in the next round.
  if (event.name === "pull_request_review") served.memory.people.forgetReviews();
  const again = rerequested(event);
  if (again !== undefined) served.memory.reruns.ask(again.head, again.name);
  if (MOVING_EVENTS.has(event.name) || again !== undefined) served.memory.remote.hear();
  served.pullsNeedFetch ||= PULL_EVENTS.has(event.name) || again !== undefined;
}

/** "Re-run" beside one check, or for all of ours: GitHub tells the App alone whose they are. */
function rerequested({ name, action, check }: BotEvent): BotEvent["check"] {
  return (name === "check_run" || name === "check_suite") && action === "rerequested" ? check : undefined;
}
