/** What the title of a batch's pull request says (docs/spec.md §5): rollout, release, stage and batch. */
interface PullTitle {
  rollout: string;
  /** As people call it: `v1.4.2`, or several values joined. */
  release: string;
  /** Name of the stage. */
  stage: string;
  /** Which of the stage's planned batches, from 1; absent: its catch-up batch, or what `extra` says. */
  batch?: { number: number; of: number } | undefined;
  extra?: "hotfix" | "revert" | undefined;
  /** Of a stage with steps: which of its weights the pull request brings. */
  step?: { number: number; of: number; weight: number } | undefined;
}

/** GitHub takes 256 characters. */
const LONGEST = 250;

/** `payments v1.4.2: batch 1 of 3 of canary in EMEA`, or `payments v1.4.2: step 2 of 3, weight 60, of batch 1 of 3 of canary`. One too long for GitHub loses the end of its stage's name. */
export function printTitle(title: PullTitle): string {
  const batch = title.batch === undefined ? `${title.extra ?? "catch-up"} batch` : `batch ${title.batch.number} of ${title.batch.of}`;
  const { step } = title;
  const part = step === undefined ? "" : `step ${step.number} of ${step.of}, weight ${step.weight}, of `;
  const text = `${title.rollout} ${title.release}: ${part}${batch} of ${title.stage}`;
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
}
