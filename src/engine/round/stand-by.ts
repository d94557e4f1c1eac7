/**
 * What a round does of a repo whose journal cannot be gone by: no run goes on, and everybody who waits is told why.
 *
 * Called by a round in the place of deciding and acting. Whatever a person may look at says it: the gates of batches, the pages of runs,
 * the PRs of releases whose run cannot begin, and each command that was written meanwhile. Such a command is answered, never concluded: what
 * becomes of it is for the first round in which the journal holds, in whatever process, for only there can it be recorded.
 */
import type { JournalState } from "../../adapters/git/journal/port.ts";
import { type AttentionReason, attentionReason } from "../../core/reasons/attention.ts";
import { isEnded, type Run } from "../../core/run/state/run.ts";
import type { CommandName } from "../../core/spec/commands.ts";
import type { Attention } from "./attention.ts";
import type { RepoContext } from "./context.ts";
import { type FormerPlaces, pullsToRead } from "./observe/former-places.ts";
import type { WatchOpenPulls } from "./observe/open-pulls.ts";
import type { Publisher } from "./publish/publish.ts";
import type { StartRuns } from "./start/start-runs.ts";
import type { Started } from "./start/started.ts";

interface Held {
  /** As the journal was when it last held. */
  state: JournalState;
  held: AttentionReason;
  base: string;
  baseBranch: string;
  /** Something was heard that may have moved pull requests. */
  heard: boolean;
  /** What the round found to start, where it came so far. */
  started?: readonly Started[] | undefined;
}

/** Gives the runs as they stand. */
export type StandBy = (held: Held) => Promise<Run[]>;

interface Parts {
  attention: Pick<Attention, "isPassing">;
  /** What starts runs, given what it reads of comments and answers there. */
  starter: (commands: RepoContext["commands"]) => StartRuns;
  formerPlaces: FormerPlaces;
  watchOpenPulls: WatchOpenPulls;
  publisher: Publisher;
}

type Context = Pick<RepoContext, "commands" | "log" | "repository">;

/** For whoever only asks what would start: what becomes of a command is not for them to say. */
const UNHEARD: RepoContext["commands"] = { read: async () => [], answer: async () => undefined };

/** Answered as ever: they change nothing. */
const READING: readonly CommandName[] = ["status", "plan"];
/** What passes by itself within this is told to nobody. */
const LASTS_MS = 60_000;

export function openStandBy({ commands, log, repository }: Context, parts: Parts): StandBy {
  const { attention, formerPlaces, watchOpenPulls, publisher } = parts;
  const startRuns = parts.starter(UNHEARD);

  /** One part's trouble is not the others'. */
  async function tried(what: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      log.warn({ repository, what, error: String(error) }, "what stands still could not be said everywhere; trying again");
    }
  }

  async function answer(runs: ReadonlyMap<string, Run>, held: AttentionReason): Promise<void> {
    const all = [...runs.values()];
    const active = all.filter((run) => !isEnded(run));
    const former = await formerPlaces(runs);
    for (const run of all) {
      const places = pullsToRead(run, active, former.get(run.rollout));
      for (const command of places.length === 0 ? [] : await commands.read(run.rollout, places)) {
        if (READING.includes(command.name)) await commands.answer(command, "done", undefined, run);
        else await commands.answer(command, "waits", attentionReason("NOTHING_IS_DONE", { because: held }), run);
      }
    }
  }

  return async ({ state, held, base, baseBranch, heard, started }) => {
    const { runs } = state;
    if (heard) await tried("gates", () => watchOpenPulls(runs, baseBranch, { held }));
    if (attention.isPassing(held, LASTS_MS)) return [...runs.values()];
    await tried("commands", () => answer(runs, held));
    await tried("releases", async () => {
      const waiting = started ?? (await startRuns(state, base, baseBranch)).started;
      publisher.standBy(waiting, runs, held);
    });
    return [...runs.values()];
  };
}
