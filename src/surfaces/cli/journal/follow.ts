/** A run is followed in the journal until who asked has seen enough: for `get -w`, `status` and `wait`. */
import type { IndexEntry } from "../../../adapters/git/journal/port.ts";
import { formatDuration } from "../../../core/base/time.ts";
import { refusedModel } from "../../../core/report/model/refused.ts";
import { refusedText } from "../../../core/report/refused.ts";
import { releaseName } from "../../../core/report/words.ts";
import type { Run } from "../../../core/run/state/run.ts";
import { CommandError } from "../command.ts";
import { terminalWidth, visible } from "../print.ts";
import type { JournalSource } from "./source.ts";

export interface Which {
  name: string;
  /** Absent: the last one when it is first looked. */
  number?: number | undefined;
  /** Only a run of this release, which need not have begun. */
  release?: string | undefined;
  /** Goes on with the run that puts this one back, once it has begun. */
  andBack?: boolean | undefined;
}

export interface Sight {
  /** undefined: it has not begun. */
  run: Run | undefined;
  /** A release that was merged and started no run. */
  refused: IndexEntry["refused"];
  /** Whether the journal is another than at the last sight. */
  moved: boolean;
}

export interface Pace {
  /** How often the journal's ref is looked at, and the remote asked. */
  pollMs: number;
  fetchMs: number;
  /** undefined: for ever. */
  withinMs?: number | undefined;
  /** For how long a remote may answer nothing; undefined: for ever. */
  silentMs?: number | undefined;
}

const PACE: Pace = { pollMs: 1000, fetchMs: 5000 };
/** A remote that does not answer is asked half as often each time, down to this. */
const SELDOM_MS = 60_000;

/**
 * A sight of the run now and at every look after, until nobody takes the next or the time is over.
 * @throws CommandError 3 where the remote has not answered for as long as it may
 */
export async function* follow(source: JournalSource, which: Which, pace: Partial<Pace> = {}): AsyncGenerator<Sight, void> {
  const { pollMs, fetchMs, withinMs, silentMs } = { ...PACE, ...pace };
  const began = performance.now();
  let fetched = began;
  let pauseMs = fetchMs;
  let silentSince: number | undefined;
  let head: string | undefined;
  let number = which.number;
  let sight: Sight | undefined;
  for (;;) {
    const now = await source.head();
    const moved = sight === undefined || now !== head;
    head = now;
    if (moved) sight = await look(source, { ...which, number });
    if (sight === undefined) throw new Error("nothing was looked at");
    // Any other later run of the rollout is another story.
    number = sight.run?.number ?? number;
    yield { ...sight, moved };
    const left = withinMs === undefined ? pollMs : withinMs - (performance.now() - began);
    if (left <= 0) return;
    await new Promise((resolve) => setTimeout(resolve, Math.min(pollMs, left)));
    if (performance.now() - fetched < pauseMs) continue;
    await source.refresh();
    fetched = performance.now();
    const why = (await source.asOf())?.why;
    silentSince = why === undefined ? undefined : (silentSince ?? fetched);
    pauseMs = why === undefined ? fetchMs : Math.min(pauseMs * 2, SELDOM_MS);
    if (silentSince !== undefined && silentMs !== undefined && fetched - silentSince >= silentMs)
      throw new CommandError(3, `${why}. It has not answered for ${formatDuration(silentMs)}, and is asked no more`);
  }
}

async function look(source: JournalSource, { name, number, release, andBack }: Which): Promise<Sight> {
  const index = await source.known();
  const entry = index?.rollouts.get(name);
  const last = number ?? entry?.lastRun ?? 0;
  const asked = last === 0 ? undefined : await source.run(name, last);
  const later = andBack === true && asked?.rollback !== undefined && (entry?.lastRun ?? 0) > last;
  const back = later ? await source.run(name, last + 1) : undefined;
  const run = back?.of === last ? back : asked;
  if (run === undefined && number !== undefined)
    throw new CommandError(1, `the journal has no run ${name} #${number}; the last one is #${entry?.lastRun ?? 0}`);
  const refused = entry?.refused;
  const isMeant = (values: Readonly<Record<string, string>>) =>
    release === undefined || Object.values(values).includes(release) || releaseName(values) === release;
  return {
    run: run !== undefined && isMeant(run.release.values) ? run : undefined,
    refused: refused !== undefined && isMeant(refused.values) ? refused : undefined,
    moved: true,
  };
}

/** Tells of a release that was merged and started no run, which is what people most likely wait for. */
export function tellRefused(refused: NonNullable<IndexEntry["refused"]>): void {
  process.stderr.write(visible(refusedText(refusedModel(refused), terminalWidth(process.stderr))));
}
