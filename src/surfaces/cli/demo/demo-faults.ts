import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readInventory } from "../../../core/argocd/inventory-file.ts";
import { nearest } from "../../../core/base/nearest.ts";
import { FLEET } from "../../../sim/world.ts";
import { CommandError } from "../command.ts";

const FAULTS = ["degraded", "stuck", "unreachable", "autosync-off", "sync-failed"] as const;

/** `CLUSTER=FAULT` of a cluster the fleet has; anything else is wrong usage, said before the world starts. */
export function faultsOf(texts: readonly string[]): { cluster: string; kind: (typeof FAULTS)[number] }[] {
  if (texts.length === 0) return [];
  const clusters = readInventory(readFileSync(join(FLEET, "inventory.yaml"), "utf8"), "inventory.yaml").clusters.map(({ name }) => name);
  return texts.map((text) => {
    const [cluster = "", name = ""] = text.split("=");
    const kind = FAULTS.find((known) => known === name);
    if (cluster === "" || kind === undefined)
      throw new CommandError(2, `--fail ${text}: write CLUSTER=FAULT, with one of ${FAULTS.join(", ")}`);
    if (clusters.includes(cluster)) return { cluster, kind };
    const near = nearest(cluster, clusters);
    const meant = near === undefined ? "" : `, did you mean ${near}?`;
    throw new CommandError(2, `--fail ${text}: the fleet has no cluster "${cluster}"${meant}; it has ${clusters.join(", ")}`);
  });
}
