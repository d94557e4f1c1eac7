import { type AppCall, isContent, isJournalCommit, isWrite, noteCalls, permit, routeOf } from "../support/app-calls.ts";
import { ended, type Journey, startJourney, WITH_MEMBERS } from "../support/journey.ts";
import type { BenchRow } from "./row.ts";

/** What GitHub is asked to write for a batch, over a whole run of the sample: labels, gate, page, deployments, journal and all. */
export async function benchCalls(): Promise<BenchRow[]> {
  const calls: AppCall[] = [];
  const journey = await startJourney({ github: { onExchange: noteCalls(calls, () => Date.now()) } });
  await permit(journey.world, { ...WITH_MEMBERS, statuses: "read", deployments: "write" });
  journey.world.undrain();
  const batches = await release(journey, () => {
    calls.length = 0;
  });
  await journey.close();
  const writes = calls.filter(isWrite);
  const a = (counted: readonly AppCall[]) => counted.length / batches;
  const rows = (counted: readonly AppCall[]): BenchRow[] =>
    [...Map.groupBy(counted, routeOf)]
      .sort(([, one], [, other]) => other.length - one.length)
      .map(([route, some]) => ({ name: `  ${route}`, value: a(some), unit: "calls" }));
  const reads = calls.filter((call) => !isWrite(call));
  return [
    { name: `writes a batch, all that a run of ${batches} batches takes`, value: a(writes), unit: "calls", limit: 8 },
    {
      name: "of them content, besides the journal and the run's first and last word",
      value: a(writes.filter((call) => isContent(call) && !isJournalCommit(call))) - WORDS_OF_RUN / batches,
      unit: "calls",
      limit: 3,
    },
    ...rows(writes),
    { name: "reads a batch that are not answered 304", value: a(reads), unit: "calls" },
    ...rows(reads),
  ];
}

/** The page as the run begins and as it has ended, and the closing summary. */
const WORDS_OF_RUN = 3;

async function release(journey: Journey, begins: () => void): Promise<number> {
  const { world } = journey;
  const alice = world.github.actAs("alice");
  const pull = await world.openReleasePull(alice);
  await world.untilComment(pull, "Plan:");
  begins();
  await alice.mergePull(world.repository, pull, "squash");
  const run = await journey.until("the run ends", ended);
  if (run.phase !== "Succeeded") throw new Error(`the run ended ${run.phase}`);
  await world.untilComment(pull, "**Succeeded**");
  return run.batches.length;
}
