/**
 * Finding a pin in YAML or JSON text and splicing a new value in. The room's public face; see `types.ts`.
 */
export { NO_CLUSTER } from "./cluster-entries.ts";
export { type MoveResult, moveInClusterGenerator, moveOutOfClusterGenerator } from "./cluster-generator.ts";
export { plainType } from "./encode.ts";
export { type FindResult, findPin } from "./find.ts";
export { readPart, writePart } from "./part.ts";
export { type PinStep, parsePinPath, printPinPath } from "./path.ts";
export { splice } from "./splice.ts";
export { type Found, type PinError, type PinPart, pinError, type SpliceEdit } from "./types.ts";
