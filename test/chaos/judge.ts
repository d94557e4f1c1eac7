/** What must hold at the end of a trial, whatever happened in it. */
import type { ChaosDatabase, Holding } from "./database.ts";
import type { Kill, Outage } from "./faults.ts";
import type { GitHubReport } from "./github.ts";
import type { End, View } from "./view.ts";

const SEAL = /^Stagecoach-Seal: v1\.[0-9a-f]{8}\.(\d+)\./m;

/** Of one repository. `expected`: as a run ends that nothing happened to. */
export async function againstEnd(view: View, end: End, expected: End | undefined): Promise<string[]> {
  return [...differences(end, expected ?? end), ...againstMerges(end), ...againstComments(end), ...againstJournal(await view.journal())];
}

function differences(end: End, expected: End): string[] {
  const names = Object.keys(expected) as (keyof End)[];
  return names
    .filter((name) => JSON.stringify(end[name]) !== JSON.stringify(expected[name]))
    .map((name) => `its ${name} are not as without faults:\n  ${lines(end[name])}\ninstead of\n  ${lines(expected[name])}`);
}

const lines = (value: unknown) => (Array.isArray(value) ? value.map((one) => JSON.stringify(one)).join("\n  ") : JSON.stringify(value));

/** Each batch once, and in the order of the plan. */
function againstMerges({ merges }: End): string[] {
  const twice = merges.filter((one, n) => merges.indexOf(one) !== n).map((one) => `merged twice: ${one}`);
  const places = merges
    .map((one) => /batch (\d+) of \d+ of (\w+)$/.exec(one))
    .map((found) => [found?.[2] === "canary" ? 0 : 1, Number(found?.[1])]);
  const isInOrder = places.every(([stage = 0, batch = 0], n) => {
    const [beforeStage = 0, beforeBatch = 0] = places[n - 1] ?? [];
    return n === 0 || stage > beforeStage || (stage === beforeStage && batch > beforeBatch);
  });
  return isInOrder ? twice : [...twice, `merged out of turn: ${merges.join(", ")}`];
}

/** One comment of a kind on a pull request. */
function againstComments({ pulls }: End): string[] {
  return pulls.flatMap(({ title, comments }) => {
    const markers = comments.flatMap((one) => /<!-- stagecoach:[^>]*-->/.exec(one)?.[0] ?? []);
    return markers.filter((one, n) => markers.indexOf(one) !== n).map((one) => `there are twins on "${title}": ${one}`);
  });
}

/** One line of commits, each sealed by us with the next number. */
function againstJournal(commits: readonly { message: string; parents: number }[]): string[] {
  return commits.flatMap(({ message, parents }, n) => {
    const number = Number(SEAL.exec(message)?.[1]);
    const subject = message.split("\n", 1)[0];
    if (parents > 1 || (parents === 0) !== (n === 0)) return [`the journal forks at "${subject}"`];
    return number === n + 1 ? [] : [`the journal's commit ${n + 1} is sealed as ${number}: "${subject}"`];
  });
}

/** Whoever wrote to a repository looked after it when they sent that. `holdings` absent: there is one process. */
export function againstWrites({ writes }: GitHubReport, holdings: readonly Holding[] | undefined): string[] {
  if (writes.length === 0) return ["nobody has written anything: the wires do not mark requests"];
  return writes.flatMap(({ by, sentAt, what, repository }) => {
    if (holdings === undefined || repository === undefined) return [];
    const before = holdings.findLast((one) => one.repository === repository.toLowerCase() && one.atMs <= sentAt);
    if (before?.holder === by) return [];
    const whose = before?.holder ?? "nobody";
    return [`${by} wrote to ${repository}, which was looked after by ${whose} for ${sentAt - (before?.atMs ?? 0)} ms: ${what}`];
  });
}

/** Whatever was acknowledged was kept, and looked at. */
export function againstDeliveries(report: GitHubReport, kept: Awaited<ReturnType<ChaosDatabase["deliveries"]>>): string[] {
  const known = new Map(kept.map((one) => [one.guid, one]));
  const taken = report.deliveries.filter(({ status = 0 }) => status >= 200 && status < 300);
  return taken.flatMap(({ guid, event }) => {
    const found = known.get(guid);
    if (found === undefined) return [`a delivery was acknowledged and is lost: ${event} ${guid}`];
    return found.isDone && !found.isAside ? [] : [`a delivery was acknowledged and never looked at: ${event} ${guid}`];
  });
}

export interface Takeover {
  /** From the kill until what that replica had was looked after again. */
  ms: number;
  /** Of it, since when another could have taken it over without a break: it was up, went on, and had PostgreSQL. */
  ableMs: number;
  /** See faults.ts. */
  alone: boolean;
}

interface Happened {
  kills: readonly Kill[];
  outages: readonly Outage[];
  holdings: readonly Holding[];
  /** Names of all of them. */
  replicas: readonly string[];
}

/** After each kill. */
export function takeovers({ kills, outages, holdings, replicas }: Happened): Takeover[] {
  /** From when on this one was able to, at that moment. */
  const ableSince = (name: string, atMs: number) =>
    Math.max(0, ...outages.filter((one) => one.names.includes(name) && one.fromMs < atMs).map(({ toMs }) => Math.min(toMs, atMs)));

  const repositories = [...new Set(holdings.map(({ repository }) => repository))];
  return kills.flatMap(({ name, atMs, alone }) =>
    repositories.flatMap((repository) => {
      const own = holdings.filter((one) => one.repository === repository);
      if (own.findLast((one) => one.atMs <= atMs)?.holder !== name) return [];
      const next = own.find((one) => one.atMs > atMs && one.holder !== null);
      if (next === undefined) return [];
      const able = Math.min(...replicas.map((one) => ableSince(one, next.atMs)));
      return [{ ms: next.atMs - atMs, ableMs: next.atMs - Math.max(atMs, able), alone }];
    }),
  );
}
