/** What is wrong with a file that the CLI is given as an Argo CD's inventory. `file`: with line and column where they are known. */
export type InventoryFault = { readonly file: string } & (
  | { kind: "EmptyList" | "NoObject" | "NoName" }
  | { kind: "NothingOfArgoCd"; label: string }
  | { kind: "NotYaml"; said: string }
  | { kind: "Twice"; cluster: string }
);
