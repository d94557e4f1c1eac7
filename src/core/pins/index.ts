/**
 * Finding a pin in YAML or JSON text and splicing a new value in. The room's public face; see `types.ts`.
 */
export { NO_CLUSTER } from "./cluster-entries.ts";
export { type GeneratorMove, type MoveResult, moveInClusterGenerator, moveOutOfClusterGenerator } from "./cluster-generator.ts";
export { plainType } from "./encode.ts";
export type { PinFile, PinOptions } from "./file.ts";
export { type FindResult, findPin } from "./find.ts";
export { type PartResult, type PinPart, readPart, writePart } from "./part.ts";
export { type PinPath, type PinStep, parsePinPath, printPinPath } from "./path.ts";
export { type SpliceResult, splice } from "./splice.ts";
export type { Found, PinError, PinErrorCode, SpliceEdit } from "./types.ts";
