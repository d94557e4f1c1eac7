import type { AnyReason } from "../../../core/base/reason.ts";
import type { Clock } from "../../../core/base/time.ts";
import { planeReason as reason } from "../../../core/reasons/control-plane.ts";
import { livenessReason } from "../../../core/reasons/liveness.ts";
import { reasonOf, statusOf } from "../wire/http.ts";
import type { Missed, Versioned } from "../wire/source.ts";

/** How to tell why one is not in a list any more. */
export interface MissingOptions<View> {
  /** Asks for it by its name. Resolves where the answer is that it is gone, or there for whoever may look; rejects with WireError. */
  ask: (view: View) => Promise<unknown>;
  /** What is left of it while nobody knows how it is. */
  withhold: (view: View, why: AnyReason) => View;
  /** The line of policy without which it is refused. */
  grant: (view: View) => string;
}

/** Of one list. Those that are left are asked for with the next one, a minute later; until then nothing is concluded from them either. */
const MOST_ASKED = 500;
const AT_ONCE = 8;
/** Of one list. What the stream says waits as long, and an Argo CD that is slow must not hold it back for minutes. */
const TOTAL_MS = 30_000;

/** Of each that was asked about: undefined where it is gone, or else what is known of why it is not listed. */
type Answers = Map<string, AnyReason | undefined>;

/**
 * Tells what an account may not get, and Argo CD leaves out of a list, from what is gone. By its name it says which: 404 is gone, 403
 * is forbidden. Keeps those of which it does not say that they are gone; unsettled are those that were not asked about, or in vain.
 * Takes 30 s of the clock at most. Never rejects.
 */
export async function withheldOf<View extends Versioned>(
  missing: ReadonlyMap<string, View>,
  options: MissingOptions<View>,
  { clock, isClosed }: { clock: Clock; isClosed: () => boolean },
): Promise<Missed<View>> {
  let isOver = false;
  let cancel: () => void = () => undefined;
  const timeIsUp = new Promise<void>((resolve) => {
    cancel = clock.after(TOTAL_MS, resolve);
  });
  const answers: Answers = new Map();
  await Promise.race([askAll(missing, options, answers, () => isOver || isClosed()), timeIsUp]);
  // What is answered from here on is asked again.
  isOver = true;
  cancel();
  const kept = new Map<string, View>();
  let unsettled = false;
  for (const [key, view] of missing) {
    const why = answers.has(key) ? answers.get(key) : whyBefore(view);
    if (why === undefined) continue;
    kept.set(key, options.withhold(view, why));
    unsettled ||= why.code !== "UNLISTED_FORBIDDEN";
  }
  return { kept, unsettled };
}

async function askAll<View extends Versioned>(
  missing: ReadonlyMap<string, View>,
  { ask, grant }: MissingOptions<View>,
  answers: Answers,
  isOver: () => boolean,
): Promise<void> {
  // Those nobody has asked about come first, so that each has its turn.
  const turns = [...missing].sort(([, a], [, b]) => Number(wasAsked(a)) - Number(wasAsked(b))).slice(0, MOST_ASKED);
  // Where nothing answers, asking for hundreds more would only take time.
  let isSilent = false;
  async function next(): Promise<void> {
    while (!isSilent && !isOver()) {
      const one = turns.shift();
      if (one === undefined) return;
      const [key, view] = one;
      const why = await whyMissing(view);
      if (!isOver()) answers.set(key, why);
    }
  }
  async function whyMissing(view: View): Promise<AnyReason | undefined> {
    try {
      await ask(view);
      return undefined;
    } catch (error) {
      const because = reasonOf(error);
      if (statusOf(error) === 403)
        return livenessReason("UNLISTED_FORBIDDEN", { because: reason("GRANT_WANTED", { because, grant: grant(view) }) });
      isSilent ||= statusOf(error) === 0;
      return livenessReason("UNLISTED_ASKING_FAILED", { because });
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}

/** What was found out when it was asked about before. */
function whyBefore(view: Versioned): AnyReason {
  return view.unreadable !== undefined && wasAsked(view) ? view.unreadable : livenessReason("UNLISTED_UNASKED");
}

function wasAsked({ unreadable }: Versioned): boolean {
  return unreadable?.code === "UNLISTED_FORBIDDEN" || unreadable?.code === "UNLISTED_ASKING_FAILED";
}
