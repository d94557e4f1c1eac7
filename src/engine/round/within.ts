/** Work under a name: its lines of the log say what it was for, and traces show how long it took. The server says how; else it is just done. */
import type { Run } from "../../core/run/state/run.ts";

/** What lines of the log have that are written within some work. */
export type ScopeFields = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** Does work under a name, which is one of few. */
export type Within = <T>(name: string, fields: ScopeFields, work: () => T) => T;

export const justDone: Within = (_name, _fields, work) => work();

/** Gives a function that does its work under a name. */
export function trace<Given extends unknown[], T>(
  within: Within,
  name: string,
  work: (...given: Given) => T,
  fields: (...given: Given) => ScopeFields = () => ({}),
): (...given: Given) => T {
  return (...given) => within(name, fields(...given), () => work(...given));
}

/** What tells of which run it is. */
export function ofRun({ rollout, number }: Pick<Run, "rollout" | "number">): ScopeFields {
  return { rollout, run: number };
}
