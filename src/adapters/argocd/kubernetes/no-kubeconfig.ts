import type { KubeConfig } from "@kubernetes/client-node";

export const NO_KUBECONFIG =
  "no kubeconfig was found ($KUBECONFIG, ~/.kube/config, in-cluster): configure controlPlanes with the kubeconfig of the cluster Argo CD runs in, or set KUBECONFIG";

/** Where nothing is found, @kubernetes/client-node makes a cluster up, without TLS on this machine, which it then refuses itself. */
export function isMadeUp(config: KubeConfig): boolean {
  const cluster = config.getCurrentCluster();
  return config.getCurrentContext() === "loaded-context" && cluster?.name === "cluster" && cluster.server === "http://localhost:8080";
}
