import type { AliasNode, MapNode, YamlNode } from "../base/yaml-scan/model.ts";
import type { PinStep } from "./path.ts";

/** What a path borrowed on its way, above the value itself. */
export interface Lent {
  /** The alias; or the mapping with the merge key, and the key that it brings. */
  at: AliasNode | MapNode;
  key: string | undefined;
  /** The steps within it, each with what it was taken in. */
  within: { step: PinStep; node: YamlNode }[];
}

/** Notes what one step from `node` to `next` borrows, or takes in what was borrowed before. */
export function lend(
  reached: { borrowed: boolean; lent?: Lent | undefined },
  borrowed: boolean,
  { node, next, step }: { node: YamlNode; next: YamlNode; step: PinStep | undefined },
): void {
  if (step === undefined) return;
  if (borrowed) reached.lent?.within.push({ step, node });
  else if (reached.borrowed && node.kind === "map" && step.kind === "key") reached.lent = { at: node, key: step.key, within: [] };
  else if (next.kind === "alias") reached.lent = { at: next, key: undefined, within: [] };
}
