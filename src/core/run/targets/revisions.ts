/**
 * The release is what was released: a tag that it names may be moved while it is rolled out, and then clusters that were confirmed would run
 * something else than was looked at, and those to come something that nobody has. Each revision is resolved once, kept in the journal, and
 * held against what Git and Argo CD show in every round, so before each confirmation and each merge.
 */
import type { AnyReason } from "../../base/reason.ts";
import { runReason } from "../../reasons/run.ts";
import { change, type Draft, pause } from "../state/draft.ts";
import type { ResolvedRevision } from "../state/run.ts";
import type { Assessment, NamedRevision } from "../state/world.ts";
import { seenOf } from "./seen.ts";
import { hold } from "./watch.ts";

type Named = Pick<NamedRevision, "repoURL" | "revision">;

/** A run names a handful. What else Applications may show is not kept. */
const MOST_KEPT = 50;

function isNamed(named: Named): (one: Named) => boolean {
  return (one) => one.revision === named.revision && one.repoURL === named.repoURL;
}

/** Takes in what revisions stand for, and tells what has moved. Before targets are confirmed by what they show. */
export function observeRevisions(draft: Draft): void {
  const { run, world } = draft;
  const known = [...(run.resolved ?? [])];
  const before = known.length;
  let moved: AnyReason | undefined;
  const resolve = (named: Named, commit: string, cluster?: string) => {
    const first = known.find(isNamed(named));
    if (first !== undefined) return first.commit === commit ? undefined : movedReason(first, commit, cluster);
    if (known.length < MOST_KEPT) known.push({ repoURL: named.repoURL, revision: named.revision, commit, at: draft.at, cluster });
    return undefined;
  };

  for (const named of world.revisions ?? []) {
    if (named.commit === "hidden") continue;
    if (named.commit !== null) moved ??= resolve(named, named.commit);
    else moved ??= goneReason(known.find(isNamed(named)));
  }
  for (const { assessment, key, cluster, isConfirmed } of shownIn(draft)) {
    // What is not confirmed may be on its way, and shows what it shows till then.
    if (!isConfirmed && assessment.verdict !== "live") continue;
    for (const named of assessment.shows ?? []) {
      const other = resolve(named, named.commit, cluster);
      if (other !== undefined) draft.moved.add(key);
      moved ??= other;
    }
  }
  if (known.length > before || (run.resolved === undefined && world.revisions !== undefined)) change(draft, { resolved: known });
  draft.movedFirst = moved;
}

function* shownIn(draft: Draft): Generator<{ assessment: Assessment; key: string; cluster: string; isConfirmed: boolean }> {
  for (const batch of draft.run.batches) {
    if (batch.merged === undefined) continue;
    for (const target of batch.targets) {
      const assessment = seenOf(draft, batch, target.key)?.assessment;
      if (assessment?.shows === undefined) continue;
      yield { assessment, key: target.key, cluster: target.cluster, isConfirmed: target.confirmedAt !== undefined };
    }
  }
}

/** Pauses the run on what has moved; holds this round's merges where Git does not tell. */
export function judgeRevisions(draft: Draft): void {
  const { run, world } = draft;
  if (draft.movedFirst !== undefined) pause(draft, "Moved", "Git", draft.movedFirst, runReason("ASK_REVISION_BACK"));
  // Whoever could not be asked at the start might have been moved since: what is not known yet is not merged.
  if (run.resolved === undefined && world.revisions === undefined) hold(draft, runReason("REVISIONS_UNREAD"));
  const read = (world.revisions ?? []).filter(({ commit }) => commit !== "hidden");
  const unread = run.resolved?.find((one) => one.cluster === undefined && !read.some(isNamed(one)));
  if (unread !== undefined) hold(draft, runReason("REVISION_UNREAD", { revision: unread.revision, repo: unread.repoURL }));
}

function movedReason({ repoURL: repo, revision, commit: from, cluster: first }: ResolvedRevision, to: string, cluster?: string): AnyReason {
  return runReason("REVISION_MOVED", { revision, repo, from, to, first, cluster });
}

function goneReason(before: ResolvedRevision | undefined): AnyReason | undefined {
  if (before === undefined) return undefined;
  const { repoURL: repo, revision, commit: from, cluster: first } = before;
  return runReason("REVISION_MOVED", { revision, repo, from, to: undefined, first, cluster: undefined });
}
