import { openApiPlane } from "../../../adapters/argocd/api/index.ts";
import { isMadeUp } from "../../../adapters/argocd/kubernetes/client.ts";
import { openKubernetes } from "../../../adapters/argocd/kubernetes/index.ts";
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { defined } from "../../../core/base/defined.ts";
import type { Clock } from "../../../core/base/time.ts";
import type { Log } from "../../../engine/round/context.ts";
import { kubeConfigOf } from "../config/kube-config.ts";
import type { ControlPlaneConfig } from "../config/schema.ts";
import { readSettingFile, underSetting } from "../config/setting-errors.ts";

/**
 * Opens the control planes of the configuration; none is waited for, since one that cannot be seen holds only what needs
 * it. Throws SettingError for what can never work: a file that is not there, a context that the kubeconfig has not.
 */
export async function openPlanes(configs: readonly ControlPlaneConfig[], world: { clock: Clock; log: Log }): Promise<ControlPlane[]> {
  const planes: ControlPlane[] = [];
  try {
    for (const config of configs) {
      const plane = config.kind === "api" ? apiPlane(config, world) : kubernetesPlane(config, world);
      planes.push({ ...plane, labels: config.labels });
    }
  } catch (error) {
    for (const plane of planes) await plane.close();
    throw error;
  }
  return planes;
}

function apiPlane(config: ControlPlaneConfig, world: { clock: Clock; log: Log }): ControlPlane {
  const {
    name,
    url = "",
    tokenFile = "",
    caFile,
    projects,
    namespaces,
    selector,
    allowRolloutActions,
    allowSync,
    allowGenerate,
    uiUrl,
  } = config;
  return underSetting(`control plane ${name}`, () => {
    readSettingFile("tokenFile", tokenFile);
    const ca = caFile === undefined ? undefined : readSettingFile("caFile", caFile);
    const narrowed = defined({ ca, projects, appNamespaces: namespaces, selector, uiUrl });
    return openApiPlane({ ...narrowed, name, url, tokenFile, allowRolloutActions, allowSync, allowGenerate, ...world });
  });
}

function kubernetesPlane(config: ControlPlaneConfig, { clock, log }: { clock: Clock; log: Log }): ControlPlane {
  const { name, namespaces, selector, argocdNamespace, clusterSecrets, allowRefresh: annotationRefresh, uiUrl } = config;
  return underSetting(`control plane ${name}`, () => {
    const kubeConfig = kubeConfigOf(config);
    // Without a kubeconfig each of its watches would say so, again and again; whoever waits for it to be ready says it once.
    const heard = isMadeUp(kubeConfig) ? { info: () => undefined, warn: () => undefined } : log;
    const narrowed = defined({ namespaces, selector, uiUrl });
    return openKubernetes({ ...narrowed, name, kubeConfig, argocdNamespace, clusterSecrets, annotationRefresh, clock, log: heard });
  });
}
