/**
 * Whose word has a repository looked at that waits, since its rounds hang or end their process: that of people who may steer it. Anybody may
 * comment; what others say is read once it is looked at anyway. Opened by `stagecoach.ts`.
 */
import { openGitHubForge } from "../../../adapters/forge/github/index.ts";
import { askFor } from "../../../adapters/outbound/asker.ts";
import type { Queue } from "../../../adapters/queue/port.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import type { Clock } from "../../../core/base/time.ts";
import { hasPermission, type Permission } from "../../../core/spec/commands.ts";
import type { Log } from "../../../engine/round/context.ts";
import type { Repos } from "../tenancy/repos.ts";
import type { BotServer } from "./server.ts";

interface HearingOptions {
  waits: Queue["waits"];
  wake(repository: string, at?: number, heard?: boolean): void;
  permission(repository: string, login: string): Promise<Permission>;
  clock: Pick<Clock, "now">;
  log: Pick<Log, "debug">;
}

/** An account that had no right is not asked about again for so long, nor more than so many strangers in a minute. */
const [AGAIN_MS, MINUTE_MS, MOST_IN_MINUTE, MOST_KNOWN] = [5 * 60_000, 60_000, 30, 1000];

/** Wakes a repository; where it waits, as one that is heard once GitHub says that who spoke may steer it. */
export function openHearing({ waits, wake, permission, clock, log }: HearingOptions): (repository: string, by?: string) => void {
  const asked = new BoundedMap<string, number>(MOST_KNOWN);
  let minute = { since: Number.NEGATIVE_INFINITY, questions: 0 };

  function mayAsk(key: string): boolean {
    const now = clock.now();
    if (now - (asked.get(key) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS) return false;
    if (now - minute.since >= MINUTE_MS) minute = { since: now, questions: 0 };
    minute.questions += 1;
    return minute.questions <= MOST_IN_MINUTE;
  }

  async function ask(repository: string, by: string): Promise<void> {
    const key = `${repository} ${by.toLowerCase()}`;
    if (!mayAsk(key)) return;
    asked.set(key, clock.now());
    try {
      if (!hasPermission(await permission(repository, by), "write")) return;
      wake(repository, undefined, true);
    } catch (error) {
      log.debug({ repository, error: String(error) }, "who spoke could not be asked about");
    }
    asked.delete(key);
  }

  return (repository, by) => {
    const isHeld = waits(repository);
    wake(repository, undefined, by !== undefined && !isHeld);
    if (by !== undefined && isHeld) void ask(repository, by);
  };
}

/** Asks GitHub, of a repository that may not be open here. */
export function permissionIn(repos: Pick<Repos, "placeOf">, octokit: BotServer["octokit"]): HearingOptions["permission"] {
  return async (repository, login) => {
    const place = repos.placeOf(repository);
    if (place === undefined) return "none";
    const client = await octokit(place.installationId);
    return await askFor(repository, () => openGitHubForge({ octokit: client, repository: place.fullName }).permission(login));
  };
}
