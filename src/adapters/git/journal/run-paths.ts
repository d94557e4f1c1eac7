import { GitError } from "../port.ts";

/** Where a run's files lie in the journal. */

/** `runs/ROLLOUT/NUMBER`. A name that is no DNS-1123 name never becomes a path: GitError `Invalid`. */
export function runDirectory(rollout: string, number: number): string {
  if (!Number.isSafeInteger(number) || number < 1) throw new GitError("Invalid", `${number} is no run number`);
  return `${rolloutDirectory(rollout)}/${number}`;
}

export function rolloutDirectory(rollout: string): string {
  const said = whyNoRollout(rollout);
  if (said !== undefined) throw new GitError("Invalid", said);
  return `runs/${rollout}`;
}

/** Why a name cannot be a path of the journal; undefined: it can. */
export function whyNoRollout(rollout: string): string | undefined {
  const isName = rollout.length <= 253 && /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/.test(rollout);
  return isName ? undefined : `"${rollout.slice(0, 80)}" is no rollout name (lower-case letters, digits, "-" and "." inside)`;
}

export function runFile(rollout: string, number: number): string {
  return `${runDirectory(rollout, number)}/run.yaml`;
}

export function planFile(rollout: string, number: number): string {
  return `${runDirectory(rollout, number)}/plan.yaml`;
}

export function batchFile(rollout: string, number: number, batch: number): string {
  return `${runDirectory(rollout, number)}/batches/${digits(batch)}.yaml`;
}

export function evidenceFile(rollout: string, number: number, batch: number, shard: number): string {
  return `${runDirectory(rollout, number)}/evidence/${digits(batch)}-${shard}.yaml`;
}

function digits(number: number): string {
  return String(number).padStart(3, "0");
}

/** `payments#42`, as in the trailer `Stagecoach-Run`. */
export function runName(rollout: string, number: number): string {
  return `${rollout}#${number}`;
}
