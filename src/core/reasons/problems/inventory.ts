/** What is wrong with the files that say which clusters there are: those of `spec.inventory`, and those that the CLI is given. */
export interface InventoryProblems {
  INVENTORY_FILES: { kind: "Neither" | "Both" } | { kind: "Plane"; plane: string; known: readonly string[]; near?: string | undefined };
  INVENTORY_NOT_FOUND: { name: string; near?: string | undefined };
  INVENTORY_INVALID:
    | { kind: "Unreadable"; name: string; said: string }
    | { kind: "TooLarge"; name: string; mebibytes: number; most: number }
    | { kind: "NoCluster"; name: string; label: string }
    | { kind: "TooMany"; name: string; clusters: number; most: number }
    | { kind: "NotYaml"; name: string; said: string }
    | { kind: "Aliases"; name: string }
    | { kind: "NoObject" | "NoKind" }
    | { kind: "LabelType"; label: string; secret: string | undefined }
    | { kind: "NoName"; secret: string | undefined }
    | { kind: "Twice"; cluster: string }
    | { kind: "SameServer"; first: string; second: string };
  INVENTORY_CREDENTIALS: { secret: string | undefined; holds: string };
  CREDENTIALS_IN_REPO: { secret: string | undefined; holds: string };
  /** What the CLI was given by the names of control planes is not what the rollout has. `plane`: of the rollout; with Labels, of an option. */
  PLANE_WITHOUT_INVENTORY: { kind: "Inventory" | "Labels"; plane: string; near?: string | undefined };
}

/** What is wrong with a file that the CLI is given as an Argo CD's inventory. `file`: with line and column where they are known. */
export type InventoryFault = { readonly file: string } & (
  | { kind: "EmptyList" | "NoObject" | "NoName" }
  | { kind: "NothingOfArgoCd"; label: string }
  | { kind: "NotYaml"; said: string }
  | { kind: "Twice"; cluster: string }
);
