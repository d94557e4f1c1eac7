import { git } from "../../src/adapters/git/testing/repositories.ts";
import { asApplication } from "../../src/sim/argocd/types.ts";
import type { EmbeddedWorld } from "../../src/sim/world.ts";
import type { JourneyOptions } from "./journey.ts";
import { short } from "./journey.ts";

const SET_FILE = "appsets/my-app-set.yaml";
const AUTOMATED = /\n {8}automated:\n {10}prune: true\n {10}selfHeal: true/;

/** The short sample, whose stages have the bot ask for syncs, read by Argo CD's API. */
export function byHand(sync: "Wait" | "Request"): JourneyOptions {
  return { files: short({ stage: `sync: ${sync}` }), overApi: true, allowSync: sync === "Request" };
}

/** Somebody takes automated sync out of every Application, once each was synced; resolves when the cluster has it so. */
export async function switchAutoSyncOff(world: EmbeddedWorld, edit: (set: string) => string = (set) => set): Promise<void> {
  const set = `${git(world.github.repoDirectory(world.repository), "show", `main:${SET_FILE}`)}\n`;
  const files = { [SET_FILE]: edit(set.replace(AUTOMATED, "")) };
  await world.github.actAs("carol").push(world.repository, { branch: "main", files, message: "Sync by hand" });
  const { store } = world.kubernetes;
  const isOff = () =>
    store.list("applications").every((object) => {
      const { metadata, spec } = asApplication(object);
      return metadata.name === "config" || (spec.syncPolicy as { automated?: unknown } | undefined)?.automated === undefined;
    });
  await new Promise<void>((resolve) => {
    const off = store.subscribe("applications", look);
    look();
    function look(): void {
      if (!isOff()) return;
      off();
      resolve();
    }
  });
}

/** How often Argo CD was asked for a sync, and what it was of: by Application. */
export function syncsOf(world: EmbeddedWorld): { asked: number; revisions: Map<string, string> } {
  const asked = world.argocd.api.requests().get("POST /api/v1/applications/{}/sync") ?? 0;
  const revisions = world.kubernetes.store.list("applications").flatMap((object): [string, string][] => {
    const { metadata, status } = asApplication(object);
    const { operation } = status?.operationState ?? {};
    return operation?.initiatedBy?.username === "bot" ? [[metadata.name, operation.sync?.revision ?? ""]] : [];
  });
  return { asked, revisions: new Map(revisions) };
}
