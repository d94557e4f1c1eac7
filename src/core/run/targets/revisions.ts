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

const keyOf = ({ repoURL, revision }: Named) => `${repoURL} ${revision}`;

/** Takes in what revisions stand for, and tells what has moved. Before targets are confirmed by what they show. */
export function observeRevisions(draft: Draft): void {
  const { run, world } = draft;
  const known = new Map((run.resolved ?? []).map((one) => [keyOf(one), one]));
  const found: ResolvedRevision[] = [];
  let moved: AnyReason | undefined;
  const resolve = (named: Named, commit: string, cluster?: string) => {
    const before = known.get(keyOf(named));
    if (before !== undefined) return before.commit === commit ? undefined : movedReason(before, commit, cluster);
    if (known.size >= MOST_KEPT) return undefined;
    const { repoURL, revision } = named;
    const one: ResolvedRevision = { repoURL, revision, commit, at: draft.at, cluster };
    known.set(keyOf(one), one);
    found.push(one);
    return undefined;
  };

  for (const named of world.revisions ?? []) {
    if (named.commit === "hidden") continue;
    if (named.commit !== null) moved ??= resolve(named, named.commit);
    else moved ??= goneReason(known.get(keyOf(named)));
  }
  for (const { assessment, key, cluster, isConfirmed } of shownIn(draft)) {
    // What is not confirmed may be on its way, and shows what it shows till then.
    if (!isConfirmed && assessment.verdict !== "live") continue;
    for (const { commit, ...named } of assessment.shows ?? []) {
      const other = resolve(named, commit, cluster);
      if (other !== undefined) draft.moved.add(key);
      moved ??= other;
    }
  }
  if (found.length > 0 || (run.resolved === undefined && world.revisions !== undefined))
    change(draft, { resolved: [...(run.resolved ?? []), ...found] });
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
  const byGit = (run.resolved ?? []).filter(({ cluster }) => cluster === undefined);
  const now = new Set(world.revisions?.filter(({ commit }) => commit !== "hidden").map(keyOf));
  const unread = byGit.find((one) => !now.has(keyOf(one)));
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
