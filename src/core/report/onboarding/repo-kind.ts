/** What `stagecoach init` and onboarding say of a repo in which there is nothing of Argo CD's. */

/** What it holds in place of that, and a file that shows it. */
export type RepoKind =
  | { kind: "Terraform" | "Flux" | "Kargo" | "Helmfile" | "Fleet" | "Kustomize" | "Helm" | "Manifests"; file: string }
  | { kind: "Nothing" };

const LIVE = "give --inventory with what `kubectl get applications,applicationsets -n argocd -o yaml` prints";

/** One sentence with what to do. */
export function sayRepoKind(repo: RepoKind): string {
  switch (repo.kind) {
    case "Terraform":
      return `Terraform makes the Argo CD Applications here (${repo.file}), which Stagecoach does not read: give --from-argocd, so that it sees them as they live, and keep each version in a manifest, values file or overlay of this repo, for one in Terraform is no pin.`;
    case "Flux":
      return `This is a repo of Flux (${repo.file}): Stagecoach watches Argo CD, so it can carry a release here once Argo CD Applications deploy these folders.`;
    case "Kargo":
      return `This is a repo of Kargo (${repo.file}), and no Argo CD Application is in it: to try Stagecoach beside it, ${LIVE}.`;
    case "Helmfile":
      return `This is a repo of helmfile (${repo.file}): its releases are installed from outside, and Stagecoach watches Argo CD; it can carry them once Argo CD Applications deploy them.`;
    case "Fleet":
      return `This is a repo of Rancher Fleet (${repo.file}): Stagecoach watches Argo CD, so it can carry a release here once Argo CD Applications deploy these folders.`;
    case "Kustomize":
      return `There are kustomizations (${repo.file}), and no Argo CD Application in the repo says which of them are deployed where: ${LIVE}.`;
    case "Helm":
      return `There are Helm charts (${repo.file}), and no Argo CD Application in the repo says with which values they are deployed where: ${LIVE}.`;
    case "Manifests":
      return `There are manifests of Kubernetes (${repo.file}), and no Argo CD Application in the repo says which of them are deployed where: ${LIVE}.`;
    case "Nothing":
      return "This is no repo that Argo CD deploys from: no manifest, chart or kustomization is in it. Run init in the repo that Applications name as repoURL.";
  }
}
