import type { InventoryFault, InventoryProblems } from "../../../reasons/problems/inventory.ts";
import { problemsOf } from "./entry.ts";

const AS_PRINTED = "write what `kubectl get -o yaml` prints";

/** Where the clusters stand: in files of the repo, or in those that the CLI is given. */
export const INVENTORY_PROBLEMS = problemsOf<InventoryProblems>()({
  INVENTORY_FILES: {
    says: {
      kind: {
        Neither: "spec.inventory names no file",
        Both: "spec.inventory has both file and files",
        Plane: "no control plane of sourceRef is called {plane}",
      },
    },
    hint: {
      kind: {
        Neither: "give file, or with files one for each control plane",
        Both: "take one out: file is for all control planes, files has one for each",
        Plane: "[did you mean {near}?|name one of {known}]",
      },
    },
    means: "`spec.inventory` names no file, two kinds of them, or one for a control plane that is not of `sourceRef`",
    todo: "give `file`, or `files` by the names of `sourceRef.controlPlane`",
  },
  INVENTORY_NOT_FOUND: {
    says: "spec.inventory.file {name} does not exist",
    hint: "[did you mean {near}?|add the file, or remove spec.inventory]",
    means: "the file of `spec.inventory` is not in the repo",
  },
  INVENTORY_INVALID: {
    says: {
      kind: {
        Unreadable: "{name} cannot be read: {said}",
        TooLarge: "{name} has {mebibytes} MiB, more than {most}",
        NoCluster: "{name} has no cluster Secret (label {label}: cluster)",
        TooMany: (r) => `${r.name} has ${r.clusters} clusters, more than ${r.most}`,
        NotYaml: (r) => `${r.name} is not YAML here: ${r.said.toLowerCase().replaceAll("_", " ")}`,
        Aliases: "{name} cannot be read: too many aliases in it",
        NoObject: "this is not a Kubernetes object",
        NoKind: "the object has no kind",
        LabelType: "label {label} of [Secret {secret}|a Secret] is not text",
        NoName: "[Secret {secret}|a Secret] names no cluster",
        Twice: (r) => `cluster ${r.cluster} appears twice`,
        SameServer: "clusters {first} and {second} have the same server",
      },
    },
    hint: {
      kind: {
        Unreadable: "make it a plain file inside the repo",
        TooLarge: "keep cluster Secrets only, without data.config and annotations",
        NoCluster: "print some with kubectl get -o yaml",
        ...{ TooMany: "split the rollout", NotYaml: "correct it", Aliases: "write it without" },
        ...{ NoObject: AS_PRINTED, NoKind: AS_PRINTED },
        LabelType: "put its value in quotes",
        NoName: "give it data.name in base64, stringData.name or metadata.name",
        ...{ Twice: "keep one of them", SameServer: "keep one of them" },
      },
    },
    means: "the file of `spec.inventory` cannot be read as cluster Secrets",
    todo: "correct what the message names; `kubectl get -o yaml` prints such a file",
  },
  INVENTORY_CREDENTIALS: {
    says: "[Secret {secret}|a Secret] holds {holds}: credentials of a cluster do not belong in Git",
    hint: "replace them, and print the file through yq 'del(.items[].data.config, .items[].metadata.annotations)'",
    means: "the file of `spec.inventory` holds credentials, in `data.config` or in what `kubectl apply` noted",
    todo: "replace them: they are in Git's history now; print the file without",
  },
  CREDENTIALS_IN_REPO: {
    says: "[Secret {secret}|a Secret] holds credentials that open a cluster, in {holds}",
    hint: "take the file out of the repo, and replace the credentials if it was ever committed; print it through yq 'del(.items[].data.config, .items[].metadata.annotations)'",
    means: "a file of the repo, such as a printed inventory, holds a token, password or key of a cluster",
    warns: true,
  },
  PLANE_WITHOUT_INVENTORY: {
    says: {
      kind: {
        Inventory: "--inventory gives nothing of control plane {plane}: its clusters are not planned",
        Labels: "--plane-labels names {plane}, which is no control plane of this rollout",
      },
    },
    hint: {
      kind: {
        Inventory: "[did you mean {plane} where it names {near}?|give one more: {plane}=FILE]",
        Labels: "[did you mean {near}?|name one of sourceRef.controlPlane]",
      },
    },
    means: "a control plane of the rollout is in none of the inventories, or labels are given to one that it has not",
    todo: "name each of `sourceRef.controlPlane` once",
    warns: true,
  },
});

/** Says what is wrong with a file that was given with `--inventory`: one line. */
export function sayInventoryFault(fault: InventoryFault): string {
  return `${fault.file}: ${faultWords(fault)}`;
}

function faultWords(fault: InventoryFault): string {
  switch (fault.kind) {
    case "EmptyList":
      return "the List in it is empty: kubectl found nothing; check its namespace (-n), its context and the label selector";
    case "NothingOfArgoCd":
      return `no cluster Secret (label ${fault.label}: cluster), Application or ApplicationSet in it; print some with kubectl get -o yaml`;
    case "NotYaml":
      return `not YAML: ${fault.said}`;
    case "NoObject":
      return "a document is not a Kubernetes object (no kind)";
    case "NoName":
      return "a cluster Secret has neither data.name nor metadata.name";
    case "Twice":
      return `two cluster Secrets are named "${fault.cluster}"; the first is used`;
  }
}
