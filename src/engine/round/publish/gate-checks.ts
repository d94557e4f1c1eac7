import { BoundedMap } from "../../../core/base/bounded.ts";
import { GATE, type GateWords, notOurs } from "../../../core/report/batch/gate-check.ts";
import type { CheckRuns } from "../check-runs.ts";
import type { RepoContext } from "../context.ts";
import type { Permissions } from "../permissions.ts";

/** What our gate last said at a commit. Kind `other`: of a PR that is not ours. */
interface Reported extends Pick<GateWords, "title" | "told"> {
  kind: string;
  at: number;
  /** False: the App might not write checks. */
  sent: boolean;
}

/** The check `stagecoach/gate`, by commit. */
export interface GateChecks {
  last(head: string): Reported | undefined;
  /** The same, or undefined where it is to be said anew. */
  reported(head: string): Reported | undefined;
  /** Says it, and notes that it was. An App without `checks: write` has no gate; where it is required, that needs attention. */
  put(head: string, words: GateWords, kind: string): Promise<void>;
  /** Green on a PR or merge group that holds nothing of ours: once for each head. */
  putNotOurs(head: string): Promise<void>;
}

const MOST_KEPT = 1000;

export function openGateChecks({ clock }: Pick<RepoContext, "clock">, runs: CheckRuns, permissions: Permissions): GateChecks {
  const kept = new BoundedMap<string, Reported>(MOST_KEPT);

  function reported(head: string): Reported | undefined {
    const last = kept.get(head);
    const isOwed = last?.sent === false && !permissions.isForbidden("checks");
    return isOwed || runs.isAsked(head, GATE) ? undefined : last;
  }

  async function put(head: string, { told, ...words }: GateWords, kind: string): Promise<void> {
    const sent = await runs.send(head, GATE, words);
    kept.set(head, { kind, title: words.title, told, at: clock.now(), sent });
  }

  return {
    last: (head) => kept.get(head),
    reported,
    put,
    async putNotOurs(head) {
      if (reported(head) === undefined) await put(head, notOurs(), "other");
    },
  };
}
