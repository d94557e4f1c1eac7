import { ASKER_HEADER } from "../../core/base/asker.ts";
import { askedBy, checkMayWrite } from "./asker.ts";
import type { Breakers } from "./breaker.ts";
import type { CheckedClock } from "./checked-clock.ts";

/** What a server says that is down, or a proxy before it. */
const DOWN: ReadonlySet<number> = new Set([502, 503, 504]);

/** What one installation is given; that it cannot be had says nothing of the others. */
const OF_ONE = /\/(installation|app\/installations\/\d+)\//;

/** Makes a fetch that is timed by the clock and leaves a silent host alone for a while. */
export function hostFetch(clock: Pick<CheckedClock, "asking">, breakers: Breakers, send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const { host, pathname } = new URL(input instanceof Request ? input.url : input);
    const headers = new Headers(init?.headers);
    const told = headers.get(ASKER_HEADER);
    headers.delete(ASKER_HEADER);
    const asker = (told ?? /\/repos\/([^/]+\/[^/]+)/.exec(pathname)?.[1] ?? askedBy())?.toLowerCase();
    const heavy = asker === undefined && OF_ONE.test(pathname);
    const hear = clock.asking();
    // A token may be minted for others, too.
    if (!pathname.endsWith("/access_tokens")) checkMayWrite();
    const answer = await breakers.through(
      // GitHub's GraphQL may be down alone: what needs it not goes on.
      { host: `${host} ${pathname.endsWith("/graphql") ? "GraphQL" : "API"}`, asker, heavy },
      () => send(input, told === null ? init : { ...init, headers }),
      (came) => "error" in came || (DOWN.has(came.answer.status) && (heavy ? undefined : true)),
    );
    hear(answer.headers.get("date"));
    return answer;
  };
}
