/** What the title of a batch's pull request says (SPEC §5): rollout, release, stage and batch. */
export interface PullTitle {
  rollout: string;
  /** As people call it: `v1.4.2`, or several values joined. */
  release: string;
  /** Name of the stage. */
  stage: string;
  /** Which of the stage's planned batches, from 1; absent: its catch-up batch, or what `extra` says. */
  batch?: { number: number; of: number };
  extra?: "hotfix" | "revert";
}

/** GitHub takes 256 characters. */
const LONGEST = 250;

/** `payments v1.4.2: batch 1 of 3 of canary in EMEA`. One too long for GitHub loses the end of its stage's name. */
export function printTitle(title: PullTitle): string {
  const batch = title.batch === undefined ? `${title.extra ?? "catch-up"} batch` : `batch ${title.batch.number} of ${title.batch.of}`;
  const text = `${title.rollout} ${title.release}: ${batch} of ${title.stage}`;
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
}

/** The inverse of `printTitle` where nothing was cut; undefined: not a title of ours. Rollout names hold no space. */
export function parseTitle(text: string): PullTitle | undefined {
  const match = /^(\S+) (.+?): (?:(catch-up|hotfix|revert) batch|batch ([1-9]\d*) of ([1-9]\d*)) of (.*)$/s.exec(text);
  if (match === null) return undefined;
  const [, rollout = "", release = "", extra, number, of, stage = ""] = match;
  return {
    rollout,
    release,
    stage,
    ...(number === undefined ? {} : { batch: { number: Number(number), of: Number(of) } }),
    ...(extra === "hotfix" || extra === "revert" ? { extra } : {}),
  };
}
