/** Planned: of the plan. CatchUp: of what was put off. Hotfix: made by command, out of its turn. Revert: puts back what clusters had before. */
export type BatchKind = "Planned" | "CatchUp" | "Hotfix" | "Revert";

interface Traits {
  /** It waits for the batches and stages before it, for windows and for what is measured, travels in steps, and bakes. */
  inTurn: boolean;
  /** It puts back what clusters had before, so that they can be tried again later: also while the run is paused, and nobody approves it. */
  putsBack: boolean;
}

const TRAITS: Record<BatchKind, Traits> = {
  Planned: { inTurn: true, putsBack: false },
  CatchUp: { inTurn: true, putsBack: false },
  Hotfix: { inTurn: false, putsBack: false },
  Revert: { inTurn: false, putsBack: true },
};

export function isInTurn({ kind }: { kind: BatchKind }): boolean {
  return TRAITS[kind].inTurn;
}

export function putsBack({ kind }: { kind: BatchKind }): boolean {
  return TRAITS[kind].putsBack;
}
