import type { RenderProblem, RenderProblemCode } from "./types.ts";

/** Carries a problem out of a generator or template to `render`, which reports it: it never leaves this room. */
export class RenderFailure extends Error {
  override name = "RenderFailure";
  readonly problems: readonly RenderProblem[];
  constructor(problems: readonly RenderProblem[]) {
    super(problems[0]?.code);
    this.problems = problems;
  }
}

export function failure(code: RenderProblemCode, where: string, message: string, hint: string): RenderFailure {
  return new RenderFailure([{ code, where, message, hint }]);
}

/** Enough to see what is wrong, few enough to read. */
const MOST_PROBLEMS = 50;

/** Gathers problems, each once. */
export interface Problems {
  add(problems: readonly RenderProblem[]): void;
  list(): RenderProblem[];
}

export function collectProblems(): Problems {
  const seen = new Map<string, RenderProblem>();
  return {
    add(problems) {
      for (const problem of problems) {
        const key = JSON.stringify(problem);
        if (seen.size < MOST_PROBLEMS && !seen.has(key)) seen.set(key, problem);
      }
    },
    list: () => [...seen.values()],
  };
}

/** Sets a key as data, `__proto__` too. */
export function setKey(record: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true });
  else record[key] = value;
}

/** Reads an own key. */
export function ownKey(record: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
