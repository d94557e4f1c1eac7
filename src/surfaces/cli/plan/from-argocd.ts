/**
 * `--from-argocd`: Applications, their sets and the clusters as a live Argo CD has them, in the shape of an inventory. Everything is read,
 * nothing written, and the connection is closed once it was. Called by `fleetGiven` of `plan-args.ts`, which loads it where it is asked for.
 */
import { existsSync } from "node:fs";
import { openApiPlane } from "../../../adapters/argocd/api/index.ts";
import { openKubernetes } from "../../../adapters/argocd/kubernetes/index.ts";
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { WireError } from "../../../adapters/argocd/wire/http.ts";
import type { Inventory } from "../../../core/argocd/inventory-file.ts";
import { applicationManifest, setManifest } from "../../../core/argocd/manifest.ts";
import { defined } from "../../../core/base/defined.ts";
import { errorText } from "../../../core/base/error-text.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { kubeConfigOf } from "../../server/config/kube-config.ts";
import { wallClock } from "../../server/wall-clock.ts";
import { CommandError } from "../command.ts";
import { visible } from "../print.ts";

/** One Argo CD, as it was given. */
interface LivePlane {
  /** Undefined: the only one. */
  plane: string | undefined;
  /** An address, or a kubeconfig with its context behind `#`. */
  place: string;
}

/** Whoever waits at a terminal waits no longer. */
const READY_MS = 60_000;
/** A cluster's API answers at once or not at all. */
const KUBERNETES_READY_MS = 20_000;

const SILENT = { info: () => undefined, warn: () => undefined };
const reading = () => ({ clock: wallClock(), log: SILENT });

/** Reads one Argo CD. CommandError 3 where it cannot be, without a credential in it. */
export async function readArgoCd(live: LivePlane, env: NodeJS.ProcessEnv, argocdNamespace: string): Promise<Inventory> {
  const address = /^https?:\/\//i.test(live.place);
  try {
    return address ? await readOnce(apiPlane(live, env)) : await readKubernetes(live, argocdNamespace);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(3, visible(`--from-argocd ${shown(live.place)}: ${errorText(error)}`));
  }
}

/** An address may hold a password by mistake. */
function shown(place: string): string {
  return place.replace(/^(https?:\/\/)[^/]*@/i, "$1…@");
}

/** Of several planes each has a variable of its own: a token is never sent to another Argo CD than the one it is for. */
function tokenVariable(plane: string | undefined): string {
  return plane === undefined ? "ARGOCD_AUTH_TOKEN" : `ARGOCD_AUTH_TOKEN_${plane.toUpperCase().replaceAll("-", "_")}`;
}

function apiPlane({ plane, place: url }: LivePlane, env: NodeJS.ProcessEnv): ControlPlane {
  const variable = tokenVariable(plane);
  const token = env[variable] ?? "";
  if (token === "")
    throw new CommandError(2, visible(`--from-argocd ${shown(url)} wants a token in ${variable}: argocd account generate-token`));
  return openApiPlane({ name: plane ?? "argocd", url, token, ...reading(), tuning: { readyMs: READY_MS, impatient: true } });
}

/** All namespaces where that is allowed, else Argo CD's own; without the clusters' Secrets where these are not to be read. */
async function readKubernetes({ plane, place }: LivePlane, argocdNamespace: string): Promise<Inventory> {
  const [kubeconfig = "", context] = existsSync(place) ? [place] : place.split("#");
  if (!existsSync(kubeconfig))
    throw new CommandError(2, visible(`--from-argocd ${place} is no address (https://…) and no kubeconfig that is there`));
  const kubeConfig = kubeConfigOf({ kubeconfig, context });
  const open = (clusterSecrets: boolean, namespaces: string[] | undefined) =>
    openKubernetes({
      name: plane ?? "argocd",
      kubeConfig,
      argocdNamespace,
      clusterSecrets,
      annotationRefresh: false,
      ...defined({ namespaces }),
      ...reading(),
      tuning: { readyMs: KUBERNETES_READY_MS, impatient: true },
    });
  const tries = [() => open(true, undefined), () => open(true, [argocdNamespace]), () => open(false, [argocdNamespace])];
  let last: unknown;
  for (const one of tries) {
    try {
      return await readOnce(one());
    } catch (error) {
      if (!wantsRole(error)) throw error;
      last = error;
    }
  }
  throw last;
}

/** The account may not list something; anything else would come again. */
function wantsRole(error: unknown): boolean {
  if (!(error instanceof WireError) || error.reason.code !== "COLLECTION_LOST") return false;
  const { advice } = error.reason as { advice?: AnyReason };
  return advice?.code === "ADVISE_ROLE";
}

async function readOnce(plane: ControlPlane): Promise<Inventory> {
  try {
    await plane.ready();
    return inventoryOf(plane);
  } finally {
    await plane.close();
  }
}

/** What a plane shows. A cluster that only destinations tell has no labels that are its own, and is none of these. */
function inventoryOf(plane: Pick<ControlPlane, "applications" | "applicationSet" | "clusters">): Inventory {
  const applications = plane.applications().filter(({ deletionTimestamp }) => deletionTimestamp === undefined);
  const owners = new Map(
    applications.flatMap(({ namespace, owner }) =>
      owner?.kind === "ApplicationSet" ? [[`${namespace}/${owner.name}`, { namespace, name: owner.name }] as const] : [],
    ),
  );
  const sets = [...owners.values()].flatMap(({ namespace, name }) => plane.applicationSet(namespace, name) ?? []);
  const clusters = plane.clusters().filter(({ derived, registered }) => registered && derived === undefined);
  return {
    clusters: clusters.map((cluster) => ({ ...cluster, annotations: { ...cluster.annotations } })),
    applications: applications.map(applicationManifest),
    applicationSets: sets.map(setManifest),
    problems: [],
  };
}
