import { vi } from "vitest";
import { CommandError, type CommandModule } from "../command.ts";

interface Ended {
  code: number;
  out: string;
  err: string;
}

/** A subcommand run in this process, as `main.ts` runs it in one of its own, which takes half a second of processor time to start. */
export async function runHere(run: CommandModule["run"], ...argv: string[]): Promise<Ended> {
  const ended: Ended = { code: 0, out: "", err: "" };
  const keep = (into: "out" | "err") => (chunk: string | Uint8Array) => {
    ended[into] += String(chunk);
    return true;
  };
  const spies = [
    vi.spyOn(process.stdout, "write").mockImplementation(keep("out")),
    vi.spyOn(process.stderr, "write").mockImplementation(keep("err")),
  ];
  try {
    ended.code = await run(argv);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    ended.code = error.exitCode;
    ended.err += error.message;
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return ended;
}
