import type { RenderProblem, RenderProblems } from "../reasons/render.ts";

/** Carries a problem out of a generator or template to `render`, which reports it: it never leaves this room. */
export class RenderFailure extends Error {
  override name = "RenderFailure";
  readonly problems: readonly RenderProblem[];
  constructor(problems: readonly RenderProblem[]) {
    super(problems[0]?.code);
    this.problems = problems;
  }
}

export function failure<Code extends keyof RenderProblems>(code: Code, where: string, data: RenderProblems[Code]): RenderFailure {
  return new RenderFailure([{ code, where, ...data } as unknown as RenderProblem]);
}

/** Does something with each of several, even where one fails, so that one round tells every problem. */
export function tryEach<T>(items: Iterable<T>, attempt: (item: T) => void): void {
  const problems: RenderProblem[] = [];
  for (const item of items) {
    try {
      attempt(item);
    } catch (error) {
      if (!(error instanceof RenderFailure)) throw error;
      problems.push(...error.problems);
    }
  }
  if (problems.length > 0) throw new RenderFailure(problems);
}

/** Sets a key as data, `__proto__` too. */
export function setKey(record: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true });
  else record[key] = value;
}

export function ownKey(record: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
