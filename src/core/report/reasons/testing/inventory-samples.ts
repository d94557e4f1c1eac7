import type { InventoryProblems } from "../../../reasons/problems/inventory.ts";
import type { Samples } from "./copy-samples.ts";

/** Of files that say which clusters there are. */
export const INVENTORY_SAMPLES: Samples<keyof InventoryProblems> = {
  INVENTORY_FILES: [
    { kind: "Neither" },
    { kind: "Both" },
    { kind: "Plane", plane: '"hub-eo"', known: ["hub-eu", "hub-us"], near: "hub-eu" },
    { kind: "Plane", plane: '"x"', known: ["hub-eu", "hub-us"] },
  ],
  INVENTORY_NOT_FOUND: [{ name: "cluster.yaml", near: "clusters.yaml" }, { name: "x.yaml" }],
  INVENTORY_INVALID: [
    { kind: "Twice", cluster: "eu-1" },
    { kind: "SameServer", first: "eu-1", second: "eu-2" },
    { kind: "Unreadable", name: "c.yaml", said: "it is a symbolic link" },
    { kind: "TooLarge", name: "c.yaml", mebibytes: 9, most: 8 },
    { kind: "NoCluster", name: "c.yaml", label: "argocd.argoproj.io/secret-type" },
    { kind: "TooMany", name: "c.yaml", clusters: 20_001, most: 20_000 },
    { kind: "NotYaml", name: "c.yaml", said: "BAD_INDENT" },
    { kind: "Aliases", name: "c.yaml" },
    { kind: "NoObject" },
    { kind: "NoKind" },
    { kind: "LabelType", label: "region", secret: "cluster-eu-1" },
    { kind: "NoName", secret: undefined },
  ],
  INVENTORY_CREDENTIALS: [{ secret: "cluster-eu-1", holds: "data.config" }],
  CREDENTIALS_IN_REPO: [{ secret: "cluster-eu-1", holds: "data.config" }],
  PLANE_WITHOUT_INVENTORY: [
    { kind: "Inventory", plane: "hub-us" },
    { kind: "Inventory", plane: "hub-us", near: "hub-use" },
    { kind: "Labels", plane: "hub-use", near: "hub-us" },
  ],
};
