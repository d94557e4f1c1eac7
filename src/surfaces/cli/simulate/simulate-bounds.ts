import { sayProblem } from "../../../core/report/reasons/problems.ts";
import { parseRepoConfig } from "../../../core/spec/parse/parse.ts";
import type { RepoBounds } from "../../../core/spec/repo-config.ts";
import { SETTINGS_FILE } from "../../../core/spec/repo-config.ts";
import { CommandError } from "../command.ts";
import type { Checkout } from "../lint/lint-checkout.ts";

/** Freezes and limits of the repo's settings. CommandError 1 where these have an error: then the bot starts nothing either. */
export function boundsOf(checkout: Checkout): RepoBounds {
  const { bounds, problems } = parseRepoConfig(textOf(checkout), SETTINGS_FILE);
  const error = problems.find((problem) => problem.severity === "error");
  if (error !== undefined) {
    const { message, hint } = sayProblem(error);
    throw new CommandError(1, `${error.file}:${error.line}:${error.column}: ${message}; ${hint}. Until then nothing starts`);
  }
  return bounds;
}

function textOf(checkout: Checkout): string | null {
  try {
    return checkout.read(SETTINGS_FILE);
  } catch (error) {
    throw new CommandError(1, `${SETTINGS_FILE} cannot be read: ${error instanceof Error ? error.message : "unknown reason"}`);
  }
}
