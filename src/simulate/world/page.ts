import { iso } from "../../core/base/time.ts";
import { isSameWait, promotableWaits } from "../../core/run/commands/promotable.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { World } from "../../core/run/state/world.ts";
import type { Random } from "../generate/random.ts";
import type { Chaos } from "../generate/scenario.ts";

type Shown = NonNullable<World["shown"]>;

/** Runs' pages on their release PRs: every edit, and what the process remembers of its last one. */
export interface ModelPages {
  edits: Map<string, Shown[]>;
  known: Map<string, Shown>;
}

interface Place {
  pages: ModelPages;
  pageDice: Random;
  chaos: Pick<Chaos, "missing">;
  forgeDownUntil: number;
}

export function pageKey({ rollout, number }: Pick<Run, "rollout" | "number">): string {
  return `${rollout} #${number}`;
}

/** Has the page show what the run waits for now; an edit may fail, and is then tried again with the next round. */
export function editPage({ pages, pageDice, chaos, forgeDownUntil }: Place, run: Run, now: number): void {
  const waits = promotableWaits(run);
  const before = pages.known.get(pageKey(run))?.waits ?? [];
  if (waits.length === before.length && waits.every((wait, place) => before[place] !== undefined && isSameWait(wait, before[place])))
    return;
  if (now < forgeDownUntil || pageDice.chance(chaos.missing)) return;
  const shown = { waits, at: iso(now) };
  pages.known.set(pageKey(run), shown);
  pages.edits.set(pageKey(run), [...(pages.edits.get(pageKey(run)) ?? []), shown]);
}
