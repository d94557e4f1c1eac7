/**
 * A reason is a code with data: why something waits, is refused, failed or was done. Nothing of the core writes sentences; the codes of
 * each room are declared in `core/reasons/`, and `core/report/reasons/` says them. It stands in the journal as it is.
 */
export interface AnyReason {
  readonly code: string;
}

/** The reasons that a table of codes declares: `{ Shut: { where: string } }` gives `{ code: "Shut"; where: string }`. */
export type ReasonsOf<Table> = { [Code in keyof Table & string]: { readonly code: Code } & Readonly<Table[Code]> }[keyof Table & string];
