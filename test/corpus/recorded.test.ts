/**
 * The liveness rules, judging each moment of what a real Argo CD 3.5.1 wrote. When each change truly ran, healthy, was taken down while it
 * was recorded, so that a target may be live from then on and never before.
 */
import { describe, expect, test } from "vitest";
import { decodeApplication } from "../../src/core/argocd/decode/application.ts";
import { assess } from "../../src/core/argocd/liveness/liveness.ts";
import type { Change, LivenessInput, PartName } from "../../src/core/argocd/liveness/types.ts";
import { defined } from "../../src/core/base/defined.ts";
import { epoch, iso } from "../../src/core/base/time.ts";
import { sentenceOf } from "../../src/core/report/reasons/say.ts";
import { eventsOf, isRecordedHere, type RecordedEvent, recorded } from "./recorded.ts";

if (!isRecordedHere) console.log("skipped: what a real Argo CD wrote, since ../shared/data/argocd/recorded is not there");

const REPO = "http://127.0.0.1:7777/acme/fleet.git";
/** Commits of `main`, oldest first. */
const MAIN =
  "7ff0b0ca ea974dfc 25455749 cb06e098 bfbaf8f5 8f63bc2d 9c130210 0c84d725 9efaa2d2 46e1d8a8 f973a58a c537ac75 7876ab91 d82ee8fc";
const DRY = ["e8ef8fe6c511f8808f09a31e571a1b7658d6ab93", "3e0766d1486882bb51cef0a34953b79b2c1118dc"];

const placeOf = (commit: string) => MAIN.split(" ").indexOf(commit.slice(0, 8));

function ancestry(seen: string, commit: string): "contains" | "missing" | "unknown" {
  if (DRY.includes(seen)) return DRY.indexOf(seen) >= DRY.indexOf(commit) ? "contains" : "missing";
  if (placeOf(seen) < 0 || placeOf(commit) < 0) return "unknown";
  return placeOf(seen) >= placeOf(commit) ? "contains" : "missing";
}

const clock = (time: string) => `2026-11-22T${time}Z`;
const commit = (id: string, merged: string): Change => ({ kind: "commit", commit: id, repoURL: REPO, mergedAt: clock(merged) });
const revision = (name: string, merged: string): Change => ({ kind: "revision", revision: name, repoURL: REPO, mergedAt: clock(merged) });

const V2 = commit("ea974dfc27b487c142b1bdd8ab22cede4acd4892", "08:50:56.947");
const V3 = commit("254557490d7f72aea843bce994655da82c1a6e61", "08:52:28.909");
const V4 = commit("d82ee8fc0cd201298e31be40aafb435b566c67bb", "09:09:36.742");
const DRY_V7 = commit(DRY[1] ?? "", "09:52:05.337");
const tagged = (merged: string): Change => ({ ...revision("dry-2", merged), commit: DRY[1] ?? "" }) as Change;

interface Case {
  file: "watch" | "hydrator";
  application: string;
  change: Change;
  /** From when on it truly ran and was healthy; absent: it never did, or nobody can tell. */
  live?: string | undefined;
  /** From when on something was truly wrong, by two comparisons. */
  failing?: string;
  until: string;
  given?: Partial<LivenessInput>;
  /** The part of a clause without which it is live too early. */
  stops?: PartName;
}

/** What `hydrator.metadata` says: of the path of `shared-b` Argo CD wrote none anew. */
const hydrated =
  (events: readonly RecordedEvent[], application: string): NonNullable<LivenessInput["hydrated"]> =>
  (_, seen) => {
    if (application === "shared-b") return { drySHA: DRY[0] };
    for (const { object } of eventsOf(events, application)) {
      const { lastSuccessfulOperation: last } = (object.status?.["sourceHydrator"] ?? {}) as {
        lastSuccessfulOperation?: Record<string, string>;
      };
      if (last?.["hydratedSHA"] === seen) return { drySHA: last["drySHA"] };
    }
    return { drySHA: DRY[0] };
  };

const web = (application: string, version: string, merged: string, live: string, until: string): Case => ({
  file: "watch",
  application,
  change: revision(version, merged),
  live,
  until,
});
const lab = (application: string, change: Change, rest: Omit<Case, "file" | "application" | "change">): Case => ({
  file: "watch",
  application,
  change,
  ...rest,
});
const dry = (application: string, live: string): Case => ({
  file: "hydrator",
  application,
  change: DRY_V7,
  live,
  until: "09:52:40",
});

const CASES: Case[] = [
  lab("lab-ok", V2, { live: "08:51:04.240", until: "08:52:28" }),
  lab("lab-ok", V3, { live: "08:54:25.117", until: "09:09:36" }),
  lab("lab-ok", V4, { live: "09:10:36.602", until: "09:11:21" }),
  lab("lab-paths", V2, {
    until: "09:08:30",
    given: { edited: { files: ["lab/base/lab.yaml"], repoURL: REPO } },
    stops: "revision/rendered",
  }),
  lab("lab-c4", V2, { live: "08:51:04", until: "08:52:08" }),
  lab("lab-c4", V3, { live: "08:53:43.800", until: "08:58:00" }),
  lab("lab-short", revision("7ff0b0ca", "08:50:17"), { live: "08:50:20.213", until: "09:11:50" }),
  lab("lab-tag", revision("lab-1", "08:50:17"), { live: "08:50:19.844", until: "09:11:20" }),
  lab("lab-ref", V2, { until: "08:52:28" }),
  lab("lab-ref", V3, { live: "08:54:22.511", until: "09:00:00" }),
  lab("lab-manual", V2, { until: "08:54:00" }),
  lab("lab-manual", V4, { live: "09:10:50.996", until: "09:11:21" }),
  lab("lab-window", V2, { until: "09:08:00" }),
  web("web-c3", "v1.2.0", "08:51:48", "08:51:56.009", "08:55:00"),
  web("web-c4", "v1.2.0", "08:51:48", "08:51:57.107", "08:52:08"),
  web("web-c1", "v1.3.0", "08:55:08", "08:55:15.356", "09:02:10"),
  { ...web("web-c2", "v1.3.0", "08:55:43", "", "09:01:50"), live: undefined, failing: "08:57:48.197" },
  web("web-c1", "v1.2.0", "09:02:11", "09:02:17.312", "09:04:40"),
  web("web-c1", "v1.4.0", "09:04:44", "09:04:50.516", "09:09:00"),
  web("web-c4", "v1.4.0", "09:05:37", "09:05:44.198", "09:09:00"),
  dry("h2", "09:52:13.984"),
  dry("h3", "09:52:14.536"),
  dry("h4", "09:52:16.037"),
  dry("h5", "09:52:17.107"),
  dry("h6", "09:52:17.685"),
  dry("h7", "09:52:17.664"),
  { ...dry("h8", "09:52:17.107"), stops: "revision/older" },
  { file: "hydrator", application: "h1", change: DRY_V7, until: "09:53:00" },
  { file: "hydrator", application: "shared-a", change: tagged("09:52:31.967"), live: "09:52:37.734", until: "09:53:02" },
  { file: "hydrator", application: "shared-b", change: tagged("09:53:01"), until: "09:54:00", stops: "revision/older" },
];

const files = isRecordedHere ? { watch: recorded("watch"), hydrator: recorded("hydrator") } : { watch: [], hydrator: [] };
const SETTLE_MS = 10_000;

/** Judges whenever something was written, and every second: the first moment of each verdict, and all that was said. */
function judged(
  { file, application, change, until, given }: Case,
  { without, settleMs = SETTLE_MS }: { without?: PartName; settleMs?: number } = {},
) {
  const events = eventsOf(files[file], application);
  const first = new Map<string, number>();
  const said: string[] = [];
  let state: Pick<LivenessInput, "firstSeenAt" | "firstComparedAt" | "held"> = { held: {} };
  let next = 0;
  let isAskedFor = false;
  const moments = new Set(events.map(({ at }) => epoch(at)));
  for (let now = Math.ceil(epoch(change.mergedAt) / 1000) * 1000; now <= epoch(clock(until)); now += 1000) moments.add(now);
  for (const now of [...moments].sort((a, b) => a - b)) {
    while (epoch(events[next]?.at ?? clock("23:59:59")) <= now) next++;
    const event = events[next - 1];
    if (event === undefined || now < epoch(change.mergedAt) || now > epoch(clock(until))) continue;
    const view = decodeApplication(event.object, now);
    const tells = file === "hydrator" ? { hydrated: hydrated(files.hydrator, application) } : {};
    const input = { change, settleMs, graceMs: 60_000, ancestry, ...tells, ...given, ...state, application: view, now };
    const { verdict, clause, sentence, firstSeenAt, firstComparedAt, held, wantsRefresh } = assess(
      input,
      without === undefined ? {} : { without },
    );
    state = defined({ firstSeenAt, firstComparedAt, held: held ?? {} });
    if (!first.has(verdict)) first.set(verdict, now);
    isAskedFor = wantsRefresh;
    const line = `${verdict} ${clause}: ${sentenceOf(sentence)}`;
    if (said.at(-1)?.slice(25) !== line) said.push(`${iso(now)} ${line}`);
  }
  return { first, said: said.join("\n"), isAskedFor };
}

const titled = CASES.map((one): [string, Case] => [
  `${one.application} at ${"commit" in one.change ? one.change.commit?.slice(0, 7) : one.until}`,
  one,
]);

describe.skipIf(!isRecordedHere)("each moment of what a real Argo CD wrote is judged rightly", () => {
  test.each(titled)("%s", (_title, one) => {
    const { first, said, isAskedFor } = judged(one);
    const live = first.get("live");
    if (one.live === undefined) expect(live, said).toBeUndefined();
    // Compared in the very second in which the sync ended, and never again: the bot would ask for one more.
    else if (live === undefined) expect(isAskedFor, said).toBe(true);
    else expect(live, said).toBeGreaterThanOrEqual(epoch(clock(one.live)) + SETTLE_MS - 1000);
    const failing = first.get("failing");
    if (one.failing === undefined) expect(failing, said).toBeUndefined();
    else expect(failing, said).toBeGreaterThanOrEqual(epoch(clock(one.failing)));
  });

  test.each(titled.filter(([, { stops }]) => stops !== undefined))(
    "without the clause that tells it, %s is live too early",
    (_title, one) => {
      if (one.stops === undefined) return;
      const live = judged(one, { without: one.stops, settleMs: 1000 }).first.get("live");
      expect(live).toBeLessThan(one.live === undefined ? Number.POSITIVE_INFINITY : epoch(clock(one.live)));
    },
  );

  test("most of them come to be live in the recording itself", () => {
    const live = CASES.filter((one) => one.live !== undefined);
    expect(live.filter((one) => judged(one).first.has("live")).length).toBeGreaterThan(live.length / 3);
  });
});
