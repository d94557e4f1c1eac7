import { expect, test } from "vitest";
import { sayRepoKind } from "../../core/report/onboarding/repo-kind.ts";
import { repoKindOf } from "./repo-kind.ts";

const KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n";

test.each<[string, Record<string, string>, string]>([
  [
    "Flux",
    { "clusters/prod/apps.yaml": "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n" },
    "a repo of Flux (clusters/prod/apps.yaml)",
  ],
  [
    "Flux, with Kargo beside it",
    { "a.yaml": "apiVersion: kargo.akuity.io/v1alpha1\n", "b.yaml": "apiVersion: helm.toolkit.fluxcd.io/v2\n" },
    "a repo of Flux (b.yaml)",
  ],
  [
    "Kargo",
    { "kargo/stages.yaml": "apiVersion: kargo.akuity.io/v1alpha1\nkind: Stage\n", "base/kustomization.yaml": KUSTOMIZATION },
    "a repo of Kargo",
  ],
  [
    "Terraform with its provider for Argo CD",
    {
      "main.tf": 'resource "aws_vpc" "a" {}\n',
      "envs/apps.tf": 'resource "argocd_application" "web" {\n}\n',
      "charts/a/Chart.yaml": "name: a\n",
    },
    "Terraform makes the Argo CD Applications here (envs/apps.tf)",
  ],
  [
    "Terraform with manifests",
    { "apps.tf": 'resource "kubernetes_manifest" "web" {\n  manifest = {\n    kind       = "Application"\n  }\n}\n' },
    "Terraform makes the Argo CD Applications here (apps.tf)",
  ],
  [
    "Terraform of something else",
    { "main.tf": 'resource "aws_lb" "application" {}\n', "a/Chart.yaml": "name: a\n" },
    "There are Helm charts",
  ],
  ["helmfile", { "helmfile.yaml": "releases: []\n", "charts/a/Chart.yaml": "name: a\n" }, "a repo of helmfile (helmfile.yaml)"],
  ["helmfile in parts", { "helmfile.d/10-shop.yaml.gotmpl": "releases: []\n" }, "a repo of helmfile"],
  [
    "kustomize alone",
    { "base/kustomization.yaml": KUSTOMIZATION, "envs/prod/kustomization.yaml": KUSTOMIZATION },
    "kustomizations (envs/prod/",
  ],
  ["a chart alone", { "chart/Chart.yaml": "name: a\n" }, "There are Helm charts (chart/Chart.yaml)"],
  ["manifests alone", { "deploy.yaml": "apiVersion: apps/v1\nkind: Deployment\n" }, "There are manifests of Kubernetes (deploy.yaml)"],
  ["a program", { "main.ts": "", ".github/workflows/ci.yaml": "kind: Service\n" }, "This is no repo that Argo CD deploys from"],
])("%s is told as what it is", (_name, files, said) => {
  const kind = repoKindOf({ paths: () => Object.keys(files).sort(), read: (path) => files[path] ?? null });
  expect(sayRepoKind(kind)).toContain(said);
});
