import { type AppCall, isContent, isJournalCommit, isWrite, noteCalls, permit, routeOf } from "../support/app-calls.ts";
import { ended, type Journey, startJourney, WITH_MEMBERS } from "../support/journey.ts";
import type { BenchRow } from "./row.ts";

/** What GitHub is asked to write for a batch, over a whole release of the sample: labels, gate, page, deployments, journal and all. */
export async function benchCalls(): Promise<BenchRow[]> {
  const calls: AppCall[] = [];
  const journey = await startJourney({ github: { onExchange: noteCalls(calls, () => Date.now()) } });
  await permit(journey.world, { ...WITH_MEMBERS, statuses: "read", deployments: "write" });
  journey.world.undrain();
  calls.length = 0;
  const batches = await release(journey);
  await journey.close();
  const writes = calls.filter(isWrite);
  const a = (counted: readonly AppCall[]) => counted.length / batches;
  const rows = (counted: readonly AppCall[]): BenchRow[] =>
    [...Map.groupBy(counted, routeOf)]
      .sort(([, one], [, other]) => other.length - one.length)
      .map(([route, some]) => ({ name: `  ${route}`, value: a(some), unit: "calls" }));
  const reads = calls.filter((call) => !isWrite(call));
  return [
    { name: `writes a batch, all that a release of ${batches} batches takes`, value: a(writes), unit: "calls", limit: 8 },
    {
      name: "of them content, besides the journal",
      value: a(writes.filter((call) => isContent(call) && !isJournalCommit(call))),
      unit: "calls",
      limit: 3,
    },
    ...rows(writes),
    { name: "reads a batch that are not answered 304", value: a(reads), unit: "calls" },
    ...rows(reads),
  ];
}

async function release(journey: Journey): Promise<number> {
  const pull = await journey.release();
  const run = await journey.until("the run ends", ended);
  if (run.phase !== "Succeeded") throw new Error(`the run ended ${run.phase}`);
  await journey.world.untilComment(pull, "**Succeeded**");
  return run.batches.length;
}
