/** A subcommand, loaded lazily: `main.ts` knows only names and one-line descriptions. */
export interface CommandModule {
  /** Resolves to the exit code: 0 done, 1 the answer is no, 2 wrong usage, 3 the outside failed. */
  run(argv: readonly string[]): Promise<number>;
}

/** Ends a command with a message for stderr, without a stack. */
export class CommandError extends Error {
  override name = "CommandError";
  readonly exitCode: 1 | 2 | 3;
  constructor(exitCode: 1 | 2 | 3, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}
