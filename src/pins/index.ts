/**
 * Finding a pin in YAML or JSON text and splicing a new value in. The room's public face; see `types.ts`.
 */
export type { Found, PinError, PinErrorCode, SpliceEdit } from "./types.ts";
