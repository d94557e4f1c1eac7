import { readFileSync } from "node:fs";
import { KubeConfig } from "@kubernetes/client-node";
import { openApiPlane } from "../../../adapters/argocd/api/index.ts";
import { openKubernetes } from "../../../adapters/argocd/kubernetes/index.ts";
import { isMadeUp, NO_KUBECONFIG } from "../../../adapters/argocd/kubernetes/no-kubeconfig.ts";
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { defined } from "../../../core/base/defined.ts";
import type { Clock } from "../../../core/base/time.ts";
import type { Log } from "../../../engine/round/context.ts";
import type { ControlPlaneConfig } from "../config/schema.ts";
import { SettingError } from "../config/setting-errors.ts";

/**
 * Opens the control planes of the configuration; none is waited for, since one that cannot be seen holds only what needs
 * it. Throws SettingError for what can never work: a file that is not there, a context that the kubeconfig has not.
 */
export async function openPlanes(configs: readonly ControlPlaneConfig[], world: { clock: Clock; log: Log }): Promise<ControlPlane[]> {
  const planes: ControlPlane[] = [];
  try {
    for (const config of configs) planes.push(config.kind === "api" ? apiPlane(config, world) : kubernetesPlane(config, world));
  } catch (error) {
    for (const plane of planes) await plane.close();
    throw error;
  }
  return planes;
}

function apiPlane(config: ControlPlaneConfig, { clock, log }: { clock: Clock; log: Log }): ControlPlane {
  const { name, url = "", tokenFile = "", caFile, projects, namespaces, selector, allowRolloutActions, allowGenerate } = config;
  usable(name, () => readFileSync(tokenFile));
  const ca = caFile === undefined ? undefined : usable(name, () => readFileSync(caFile, "utf8"));
  return usable(name, () =>
    openApiPlane({
      ...defined({ ca, projects, appNamespaces: namespaces, selector }),
      name,
      url,
      tokenFile,
      allowRolloutActions,
      allowGenerate,
      clock,
      log,
    }),
  );
}

function kubernetesPlane(config: ControlPlaneConfig, { clock, log }: { clock: Clock; log: Log }): ControlPlane {
  const { name, namespaces, selector, argocdNamespace, clusterSecrets, allowRefresh } = config;
  return usable(name, () => {
    const kubeConfig = kubeConfigOf(config);
    return openKubernetes({
      name,
      kubeConfig,
      ...defined({ namespaces, selector }),
      argocdNamespace,
      clusterSecrets,
      annotationRefresh: allowRefresh,
      clock,
      // Without a kubeconfig each of its watches would say so, again and again; whoever waits for it to be ready says it once.
      log: isMadeUp(kubeConfig) ? { info: () => undefined, warn: () => undefined } : log,
    });
  });
}

/** Inside a cluster the pod's own account, unless a kubeconfig is named: there is none to be found by chance. */
export function kubeConfigOf({ kubeconfig, context }: ControlPlaneConfig): KubeConfig {
  const config = new KubeConfig();
  if (kubeconfig !== undefined) config.loadFromFile(kubeconfig);
  else if ((process.env["KUBERNETES_SERVICE_HOST"] ?? "") !== "") config.loadFromCluster();
  else config.loadFromDefault();
  if (context === undefined) return config;
  if (isMadeUp(config)) throw new Error(NO_KUBECONFIG);
  const known = config.getContexts().map((one) => one.name);
  if (!known.includes(context)) throw new Error(`the kubeconfig has no context "${context}"; it has ${known.join(", ") || "none"}`);
  config.setCurrentContext(context);
  return config;
}

function usable<T>(name: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new SettingError(`control plane ${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
