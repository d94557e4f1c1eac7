/**
 * A cell: a process of its own in which what strangers send is parsed and rendered, with a limit on processor time and memory. It has no
 * token and no environment, and knows of the outside what it is answered.
 */

/** What a job may ask, by name. Nothing here writes. */
export type Answers = Readonly<Record<string, (...args: never[]) => unknown>>;

export interface CellJob {
  /** Which of the functions inside is called. */
  name: string;
  /** Plain data, as a structured clone takes it. */
  input: unknown;
  answers: Answers;
}

/** `killed`: it passed a limit. `failed`: the function threw, or an answer did; `said` is for the log. */
export type CellOutcome = { kind: "done"; value: unknown } | { kind: "failed"; said: string } | { kind: "killed"; by: "time" | "memory" };

export interface Cell {
  /** Does one job after the other. Never rejects. */
  run(job: CellJob): Promise<CellOutcome>;
}

/** Thrown by an answer that would be larger than anybody needs: its job has passed a limit, and is killed. */
export class TooMuchAsked extends Error {
  override name = "TooMuchAsked";
}

/** Asks what the job's owner answers, and waits. @throws what the answer threw */
export type Ask = (question: string, ...args: readonly unknown[]) => unknown;
