import { openGitSource } from "./argocd/git/git-source.ts";
import { type ArgoCdOptions, type ArgoCdSim, startArgoCd } from "./argocd/index.ts";
import { asApplication } from "./argocd/types.ts";
import { type KubernetesSim, startKubernetes } from "./kubernetes/index.ts";

/** One control plane of the embedded world: a Kubernetes API with an Argo CD on it. */
export interface EmbeddedPlane {
  name: string;
  kubernetes: KubernetesSim;
  argocd: ArgoCdSim;
  /** Text. */
  kubeconfig: string;
}

const PATIENCE_MS = 300_000;

interface PlaneOptions extends Omit<ArgoCdOptions, "kubernetes" | "git"> {
  name: string;
  repo: { url: string; token: string; directory?: string | undefined };
  /** The folder of the repo that it applies. Default `appsets`. */
  path?: string;
  /** ApplicationSets that make an Application for each cluster. Default 1. */
  sets?: number;
}

/** Starts one that applies the Argo CD objects of a repo, and resolves once each of its Applications is Synced and Healthy. */
export async function startPlane({ name, repo, path = "appsets", sets = 1, ...options }: PlaneOptions): Promise<EmbeddedPlane> {
  const kubernetes = await startKubernetes({ clock: options.clock });
  const git = await openGitSource(repo);
  const bootstrap = { repoURL: repo.url, revision: "main", path };
  const argocd = await startArgoCd({ kubernetes, git, bootstrap, ...options });
  await untilHealthy(kubernetes, sets * (options.clusters ?? []).length + 1);
  return { name, kubernetes, argocd, kubeconfig: kubernetes.kubeconfig() };
}

/** Resolves once this many Applications are Synced and Healthy. */
function untilHealthy({ store }: KubernetesSim, count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const patience = setTimeout(() => finish(new Error("the embedded Argo CD did not get its Applications healthy")), PATIENCE_MS);
    const off = store.subscribe("applications", look);
    look();
    function look(): void {
      const healthy = store.list("applications").filter((object) => {
        const { sync, health } = asApplication(object).status ?? {};
        return sync?.status === "Synced" && health?.status === "Healthy";
      });
      if (healthy.length >= count) finish();
    }
    function finish(error?: Error): void {
      clearTimeout(patience);
      off();
      if (error === undefined) resolve();
      else reject(error);
    }
  });
}
