import { defined } from "../../base/defined.ts";
import { namesRef } from "../../base/ref-name.ts";
import type { Time } from "../../base/time.ts";
import { type Edit, filesOf } from "../../plan/plan-types.ts";
import { committedSources } from "../decode/source.ts";
import { equalIntent, normalRepo, sameValue } from "../same.ts";
import { type IsBase, inRepo, readersOf, takesFile } from "../source-files.ts";
import type { SourceView } from "../views.ts";
import { isFullSha } from "./moment.ts";
import type { Change, Intended } from "./types.ts";

export interface ChangeForInput {
  /** The target's edits in the batch. */
  edits: readonly Pick<Edit, "kind" | "file" | "path" | "from" | "to" | "copied" | "forced" | "removes">[];
  /** The merge commit, and when GitHub says it was merged. */
  commit: string;
  mergedAt: Time;
  /** URL of the config repo, as the Applications may spell it in any way. */
  repoURL: string;
  /**
   * The target's Application as the ApplicationSet (or the file it is written in) gives it at the merge commit's first
   * parent and at the merge commit. undefined: cannot be rendered.
   */
  before?: Intended | undefined;
  after?: Intended | undefined;
  /** The Application as it is now; only looked at where it cannot be rendered. */
  live?: Intended | undefined;
  /** Files that its spec is made from, as far as that is known where it cannot be rendered. */
  madeFrom?: ReadonlySet<string> | undefined;
  /** The commit a tag or branch of a repo stands for, where a mirror knows it. */
  resolve?: (repoURL: string, revision: string) => string | undefined;
}

/** Deeper than any real spec. */
const DEEPEST = 50;

interface ChosenChange {
  change: Change;
  /** Give these to assess as well. */
  also: Change[];
  intended?: Intended;
  /** Edited files that it must read itself, since its spec does not show their edits. */
  files: readonly string[];
}

/**
 * How the change of one target must show in its Application, from what the commit does to it:
 * 1. its spec, in `targetRevision`s: each new revision must be the one seen, and the spec the intended one;
 * 2. its spec, elsewhere (a Helm parameter, a path, the destination): the spec must be the intended one;
 * 3. not its spec, but files it reads from the config repo (values file, overlay): the seen revision must contain the commit;
 * 4. both: an edit that the spec does not account for is taken for one of 3, as far as a source reads the config repo.
 * Of a hydrated Application the dry source is what the commit reaches, and the synced one what Argo CD makes of it.
 * A `branch` pin is the release commit on the branch that the Application follows, each of several. Where nothing can be rendered the live
 * spec decides: a source at the old or the new value is case 1, one that reads the config repo case 3. What is edited where only the spec
 * is made from has to stand in it: the commit may be seen long before the spec is another one.
 */
export function changeFor(input: ChangeForInput): ChosenChange {
  const { edits, mergedAt, repoURL, after } = input;
  const moves = edits
    .filter((edit) => edit.kind === "branch")
    .map(({ path, to, forced }): Change => ({ kind: "commit", commit: to, repoURL, mergedAt, ...(forced === true && { exact: path }) }));
  // What goes forward goes to one commit, of whatever branch; what goes back or aside to one for each.
  const [moved, ...others] = followed(moves, committedSources(after ?? input.live ?? { sources: [] }));
  if (moved !== undefined) return { change: moved, also: others.filter((one) => !sameValue(one, moved)), files: [] };
  const commit: Change = { kind: "commit", commit: input.commit, repoURL, mergedAt };
  if (after === undefined) return unrendered(input, commit);
  if (input.before === undefined) return withoutBefore(input, after, commit);
  if (equalIntent(input.before, after)) return { change: commit, also: [], intended: after, files: writtenBy(edits) };
  const [was, is] = [committedSources(input.before), committedSources(after)];
  const changes = revisionChanges(input, was, is);
  const stays = (source: SourceView) =>
    isOf(source, repoURL) && was.some((one) => isOf(one, repoURL) && one.targetRevision === source.targetRevision);
  const isShown = (edit: (typeof edits)[number]) =>
    edit.removes === true ? appearsAnew(edit.from ?? "", after, input.before, 0) : appearsAnew(edit.to, input.before, after, 0);
  const rest = edits.filter((edit) => isRead(edit, is, stays) || !isShown(edit));
  const byFile = rest.length > 0 && readsRepo(committedSources(after), repoURL);
  if (byFile) changes.push(commit);
  const [change = { kind: "generator", mergedAt } as const, ...also] = changes;
  return { change, also, intended: after, files: byFile ? writtenBy(rest) : [] };
}

/** Without branches and tags that were moved back and that none of its sources follows, such as a mark beside the one that it does. */
function followed(moves: readonly Change[], sources: readonly SourceView[]): readonly Change[] {
  const own = moves.filter(
    (move) => move.kind !== "commit" || move.exact === undefined || sources.some((one) => namesRef(one.targetRevision, move.exact ?? "")),
  );
  return own.length === 0 ? moves : own;
}

/** One change for each source whose revision is another now, each revision of a repo once. */
function revisionChanges(input: ChangeForInput, before: readonly SourceView[], after: readonly SourceView[]): Change[] {
  const found = new Map<string, Change>();
  for (const [i, source] of after.entries()) {
    const revision = source.targetRevision;
    if (revision === undefined || (before.length === after.length && before[i]?.targetRevision === revision)) continue;
    found.set(`${normalRepo(source.repoURL)}\n${revision}`, revisionChange(input, source.repoURL, revision));
  }
  return [...found.values()];
}

function revisionChange(input: ChangeForInput, repoURL: string, revision: string): Change {
  const commit = isFullSha(revision) ? revision : input.resolve?.(repoURL, revision);
  return defined({ kind: "revision", revision, repoURL, mergedAt: input.mergedAt, commit });
}

/** With only the rendered spec after it: a source at the new value is the sign; without one it may be in the files or not. */
function withoutBefore(input: ChangeForInput, after: Intended, commit: Change): ChosenChange {
  const sources = committedSources(after);
  const named = sources.filter((source) => input.edits.some((edit) => edit.removes !== true && edit.to === source.targetRevision));
  const changes = named.map((source) => revisionChange(input, source.repoURL, source.targetRevision ?? ""));
  const { destination, sourceHydrator } = after;
  const whole = { sources: after.sources, destination, sourceHydrator };
  // Of what is gone no spec shows where it was.
  const stays = (source: SourceView) => isOf(source, input.repoURL) && !named.includes(source);
  const isLeft = (edit: (typeof input.edits)[number]) => isRead(edit, sources, stays) || !appearsAnew(edit.to, undefined, whole, 0);
  const left = input.edits.filter((edit) => edit.removes === true || isLeft(edit));
  const byFile = left.length > 0 && readsRepo(sources, input.repoURL);
  if (byFile) changes.push(commit);
  const [change = { kind: "generator", mergedAt: input.mergedAt } as const, ...also] = changes;
  return { change, also, intended: after, files: byFile ? writtenBy(left) : [] };
}

function unrendered(input: ChangeForInput, commit: Change): ChosenChange {
  const { edits, live } = input;
  for (const source of live === undefined ? [] : committedSources(live)) {
    const edit = edits.find(
      ({ from, to, removes }) => removes !== true && (source.targetRevision === to || (from !== null && source.targetRevision === from)),
    );
    if (edit !== undefined) return { change: revisionChange(input, source.repoURL, edit.to), also: [], files: [] };
  }
  const bySpec = live === undefined ? [] : edits.filter((edit) => isOnlyInSpec(edit, input, committedSources(live)));
  if (live === undefined || bySpec.length === 0) return { change: commit, also: [], files: writtenBy(edits) };
  const generator: Change = { kind: "generator", mergedAt: input.mergedAt };
  if (!bySpec.every((edit) => standsIn(edit, live))) return { change: generator, also: [], files: [] };
  const rest = edits.filter((edit) => !bySpec.includes(edit));
  return { change: rest.length > 0 ? commit : generator, also: [], intended: live, files: writtenBy(rest) };
}

/** An edit that reaches the Application by its spec only, since no source reads the file. */
function isOnlyInSpec({ file }: { file: string }, { madeFrom, repoURL }: ChangeForInput, sources: readonly SourceView[]): boolean {
  return madeFrom?.has(file) === true && readersOf(sources, file, (source) => isOf(source, repoURL)).length === 0;
}

/** The new value stands in what is deployed, and the old one no more; of one that goes, that alone. */
export function standsIn(edit: Pick<Edit, "from" | "to" | "removes">, { sources, sourceHydrator }: Intended): boolean {
  const { from, to, removes } = edit;
  const deployed = { sources, sourceHydrator };
  if (removes === true) return from !== null && !holds(deployed, from, 0);
  return holds(deployed, to, 0) && (from === null || holds(to, from, 0) || !holds(deployed, from, 0));
}

/** A value stands in it as a word: `1.2` does not in `1.2.3`. */
function holds(whole: unknown, value: string, depth: number): boolean {
  if (typeof whole === "object" && whole !== null) {
    return depth <= DEEPEST && Object.values(whole).some((inner) => holds(inner, value, depth + 1));
  }
  const text = String(whole ?? "");
  for (let at = text.indexOf(value); at >= 0 && value !== ""; at = text.indexOf(value, at + 1)) {
    const end = at + value.length;
    const isBegun = /(?:^|[^\p{L}\d.])v?$/u.test(text.slice(Math.max(0, at - 2), at));
    if (isBegun && !/^\.?[\p{L}\d]/u.test(text.slice(end, end + 2))) return true;
  }
  return false;
}

function writtenBy(edits: ChangeForInput["edits"]): string[] {
  return [...new Set(edits.flatMap(filesOf))];
}

function readsRepo(sources: readonly SourceView[], repoURL: string): boolean {
  return sources.some((source) => source.chart === undefined && isOf(source, repoURL));
}

/**
 * Whether a source reads what an edit changes, at a revision that this does not set: the value that the spec shows may be another edit's. What
 * reads the root of the repo reads everything, the file of the set too, and is told apart only by the values files that it names.
 */
function isRead(edit: ChangeForInput["edits"][number], sources: readonly SourceView[], isBase: IsBase): boolean {
  return filesOf(edit).some((file) =>
    readersOf(sources, file, isBase).some((source) => inRepo(source.path ?? "") !== "" || takesFile(sources, source, file, isBase)),
  );
}

function isOf(source: SourceView, repoURL: string): boolean {
  return normalRepo(source.repoURL) === normalRepo(repoURL);
}

/** The value stands somewhere in the spec where something else stood before. */
function appearsAnew(value: string, before: unknown, after: unknown, depth: number): boolean {
  if (typeof after === "string" || typeof after === "number" || typeof after === "boolean") {
    return after !== before && String(after).includes(value);
  }
  if (typeof after !== "object" || after === null || depth > DEEPEST || sameValue(before, after)) return false;
  for (const [key, inner] of Object.entries(after)) {
    const was =
      typeof before === "object" && before !== null && Object.hasOwn(before, key) ? (before as Record<string, unknown>)[key] : undefined;
    if (appearsAnew(value, was, inner, depth + 1)) return true;
  }
  return false;
}
