import type { AnalysisEngine } from "./port.ts";

/** Analyses as a repo's rounds use them: the server's engine, and what this repo may use of its secrets. */
export interface AnalysisService {
  engine: AnalysisEngine;
  /** Value of a key of an allowed secret; undefined: there is none, or the repo may not use it. */
  secret(repository: string, name: string, key: string): string | undefined;
}
