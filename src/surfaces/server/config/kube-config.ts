import { KubeConfig } from "@kubernetes/client-node";
import { isMadeUp, NO_KUBECONFIG } from "../../../adapters/argocd/kubernetes/client.ts";
import { setting } from "../../../core/reasons/settings.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { readSettingFile, SettingError, underSetting } from "./setting-errors.ts";

/** Which cluster: `kubeconfig` a file, `context` one of its contexts. */
interface KubeConfigPlace {
  kubeconfig?: string | undefined;
  context?: string | undefined;
}

/** Inside a cluster the pod's own account, unless a kubeconfig is named: there is none to be found by chance. */
export function kubeConfigOf({ kubeconfig, context }: KubeConfigPlace): KubeConfig {
  const config = new KubeConfig();
  if (kubeconfig !== undefined) config.loadFromFile(kubeconfig);
  else if ((process.env["KUBERNETES_SERVICE_HOST"] ?? "") !== "") config.loadFromCluster();
  else config.loadFromDefault();
  if (context === undefined) return config;
  if (isMadeUp(config)) throw new Error(sentenceOf(NO_KUBECONFIG));
  const known = config.getContexts().map((one) => one.name);
  if (!known.includes(context)) throw new SettingError(setting("KUBECONFIG_CONTEXT", { context, known }));
  config.setCurrentContext(context);
  return config;
}

/** The same, and it names a cluster. `name`: the setting that has the place. */
export function usableKubeConfig(name: string, place: KubeConfigPlace): KubeConfig {
  if (place.kubeconfig !== undefined) readSettingFile(`${name}.kubeconfig`, place.kubeconfig);
  return underSetting(`${name}.${place.context === undefined ? "kubeconfig" : "context"}`, () => {
    const made = kubeConfigOf(place);
    if (made.getCurrentCluster() === null) throw new SettingError(setting("KUBECONFIG_CLUSTER"));
    return made;
  });
}
