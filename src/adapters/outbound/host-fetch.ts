import type { CheckedClock } from "./checked-clock.ts";

/** A fetch whose answers are heard by the clock. */
export function hostFetch(clock: Pick<CheckedClock, "asking">, send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const hear = clock.asking();
    const answer = await send(input, init);
    hear(answer.headers.get("date"));
    return answer;
  };
}
