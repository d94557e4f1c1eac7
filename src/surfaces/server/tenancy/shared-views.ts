/**
 * What is shown of every repository, whoever looks after it: of those that are looked after here as their last round left it, of the others as
 * their replicas wrote it down. Opened by `stagecoach.ts`; without others it is what is looked after here.
 *
 * Keeps true: what a row says never decides whose it is: name and installation are those that GitHub listed here, and who may see a repository
 * is asked by that name. A row that cannot be read leaves what was read before, and says so.
 */
import { runFile } from "../../../adapters/git/journal/run-paths.ts";
import type { ShownBoard, ShownPart, ShownStanding } from "../../../adapters/queue/port.ts";
import { iso } from "../../../core/base/time.ts";
import { type AttentionReason, attentionReason } from "../../../core/reasons/attention.ts";
import type { History } from "../../../core/report/plan/duration.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { Log } from "../../../engine/round/context.ts";
import type { Repos } from "./repos.ts";
import { showViews } from "./show-views.ts";
import { BESIDE, type Beside, unpackBeside, unpackRun, VIEW_FORMAT, type View, viewOf } from "./view.ts";

interface SharedViewsOptions {
  repos: Repos;
  /** Absent: there are no others. */
  board: ShownBoard | undefined;
  owns(key: string): boolean;
  log: Log;
  /** Something is shown otherwise than before. */
  announce(): void;
  /** What is looked after here may be. */
  onChange(listener: () => void): void;
}

/** What another replica shows of a repository. */
interface Other {
  beside: Beside | undefined;
  runs: Map<string, { run: Run; history: History | undefined } | number>;
  /** Parts that cannot be read, and why. */
  faults: Map<string, string>;
  /** While nothing of it has changed. */
  view: View | undefined;
}

export type SharedViews = ReturnType<typeof openSharedViews>;

export function openSharedViews({ repos, board, owns, log, announce, onChange }: SharedViewsOptions) {
  const others = new Map<string, Other>();
  const showing = board && showViews({ repos, owns, board, log });
  if (showing !== undefined) onChange(showing.changed);
  let all: Map<string, View> | undefined;

  board?.onRead(async (parts) => {
    for (const part of parts) await take(others, { repos, log }, part);
    for (const { repository } of parts) trim(others.get(repository));
    announce();
  });

  function otherView(key: string, name: string): View | undefined {
    const other = others.get(key);
    if (other === undefined) return undefined;
    other.view ??= viewOfOther(other, name);
    return other.view;
  }

  function make(key: string): View {
    const served = repos.get(key);
    const own = served && viewOf(served);
    const name = own?.repository ?? repos.nameOf(key) ?? key;
    const isOwn = served?.journal !== undefined;
    const marks = (board?.standingOf(key) ?? []).filter(({ code }) => !isOwn || code !== "SHOWN_BY_NOBODY").map(said);
    if (own !== undefined && isOwn) return marked(own, marks);
    const other = otherView(key, name);
    if (other !== undefined) return marked(other, [...(own?.attention ?? []), ...marks]);
    return own ?? { ...NOTHING, repository: name };
  }

  /** The same for all that is asked of it at once. */
  function views(): ReadonlyMap<string, View> {
    if (all !== undefined) return all;
    queueMicrotask(() => {
      all = undefined;
    });
    all = new Map(repos.keys().map((key) => [key, make(key)]));
    return all;
  }

  return {
    all: () => [...views().values()],
    of: (repository: string) => views().get(repository.toLowerCase()),
    /** Somebody looks: resolves once what others wrote before is known. */
    look: board && (() => board.look()),
    stop: async () => await showing?.stop(),
  };
}

async function take(
  others: Map<string, Other>,
  { repos, log }: Pick<SharedViewsOptions, "repos" | "log">,
  { repository: key, part, format, content }: ShownPart,
): Promise<void> {
  const name = repos.nameOf(key);
  if (name === undefined) return void others.delete(key);
  const other = others.get(key) ?? { beside: undefined, runs: new Map(), faults: new Map(), view: undefined };
  others.set(key, other);
  other.view = undefined;
  try {
    if (content === undefined) throw new Error("it is larger than any may be");
    if (format > VIEW_FORMAT) throw new Error("a newer version wrote it");
    if (part === BESIDE) other.beside = named(await unpackBeside(content), name);
    else other.runs.set(part, await unpackRun(content, part));
    other.faults.delete(part);
  } catch (error) {
    other.faults.set(part, String(error).replaceAll(/\s+/g, " ").slice(0, 200));
    log.warn({ repository: key, part, error: String(error).slice(0, 500) }, "what another replica shows cannot be read");
  }
}

const NOTHING = {
  ...{ state: "Reading" as const, idle: [], unread: [], releases: [], attention: [], refused: [] },
  ...{ runs: [], heard: [], journalHead: undefined },
};

function marked(view: View, more: readonly string[]): View {
  return more.length === 0 ? view : { ...view, attention: [...view.attention, ...more] };
}

function said(standing: ShownStanding): string {
  if (standing.code === "DELIVERIES_SET_ASIDE") return sentenceOf(attentionReason(standing.code, { webhooks: standing.webhooks }));
  if (standing.code === "REPOSITORY_SLOWED")
    return sentenceOf(attentionReason(standing.code, { owners: standing.owners, until: iso(standing.until) }));
  return sentenceOf(attentionReason(standing.code, { at: iso(standing.at) }));
}

/** Whose they are is said by where they were read. */
function named(beside: Beside, repository: string): Beside {
  return { ...beside, repository, releases: beside.releases.map((one) => ({ ...one, repository })) };
}

/** Runs that are shown no more are let go. */
function trim(other: Other | undefined): void {
  if (other?.beside === undefined) return;
  const listed = new Set(other.beside.rollouts);
  for (const rollout of other.runs.keys()) if (!listed.has(rollout)) other.runs.delete(rollout);
  for (const part of other.faults.keys()) if (part !== BESIDE && !listed.has(part)) other.faults.delete(part);
}

function viewOfOther({ beside, runs, faults }: Other, repository: string): View {
  const [fault] = faults.values();
  const marks: AttentionReason[] = fault === undefined ? [] : [attentionReason("SHOWN_UNREAD", { said: fault })];
  const attention = [...(beside?.attention ?? []), ...marks.map((one) => sentenceOf(one))];
  if (beside === undefined) return { ...NOTHING, repository, attention };
  const { rollouts, unread, journalHead, ...rest } = beside;
  const found = rollouts.flatMap((rollout) => runs.get(rollout) ?? []);
  const tooLarge = rollouts.flatMap((rollout) => {
    const run = runs.get(rollout);
    if (typeof run !== "number") return [];
    return [{ rollout, run, file: runFile(rollout, Math.max(1, run)), says: sentenceOf(attentionReason("SHOWN_TOO_LARGE")) }];
  });
  return {
    ...{ ...rest, repository, attention, journalHead, unread: [...unread, ...tooLarge] },
    runs: found.filter((one) => typeof one !== "number"),
  };
}
