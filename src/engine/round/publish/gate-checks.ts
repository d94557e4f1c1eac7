import { BoundedMap } from "../../../core/base/bounded.ts";
import { GATE, type GateWords, notOurs } from "../../../core/report/batch/gate-check.ts";
import type { Reruns } from "../../release-pr/reruns.ts";
import type { RepoContext } from "../context.ts";
import { lacksPermission, type Permissions } from "../permissions.ts";

/** What our gate last said at a commit. Kind `other`: of a PR that is not ours. */
interface Reported {
  kind: string;
  title: string;
  at: number;
  /** The App may not write checks. */
  unsent?: boolean;
}

/** The check `stagecoach/gate`, by commit. */
export interface GateChecks {
  last(head: string): Reported | undefined;
  /** The same, or undefined where it is to be said anew. */
  reported(head: string): Reported | undefined;
  /** Says it, and notes that it was. An App without `checks: write` has no gate, and then nobody can require it. */
  put(head: string, words: GateWords, kind: string): Promise<void>;
  /** Green on a PR or merge group that holds nothing of ours: once for each head. */
  putNotOurs(head: string): Promise<void>;
}

const MOST_KEPT = 1000;

export function openGateChecks(context: Pick<RepoContext, "forge" | "clock">, reruns: Reruns, permissions: Permissions): GateChecks {
  const kept = new BoundedMap<string, Reported>(MOST_KEPT);

  function reported(head: string): Reported | undefined {
    const last = kept.get(head);
    const isOwed = last?.unsent === true && !permissions.isForbidden("checks");
    return isOwed || reruns.isAsked(head, GATE) ? undefined : last;
  }

  async function put(head: string, words: GateWords, kind: string): Promise<void> {
    await send(head, words);
    const unsent = permissions.isForbidden("checks");
    kept.set(head, { kind, title: words.title, at: context.clock.now(), ...(unsent ? { unsent } : {}) });
  }

  async function send(head: string, words: GateWords): Promise<void> {
    if (permissions.isForbidden("checks")) return;
    try {
      await reruns.send(head, GATE, (afresh) => context.forge.putCheck({ name: GATE, head, ...words, ...(afresh ? { afresh } : {}) }));
    } catch (error) {
      if (!lacksPermission(error)) throw error;
      permissions.forbid("checks", error);
    }
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
