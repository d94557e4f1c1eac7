import fc from "fast-check";
import { at, COMMIT, merged, NOW, rawApplication } from "./application.ts";

/** What stands in an Application that is live, and what may be put in its place. */
export type Raw = Record<string, unknown>;
export type Path = readonly string[];

const SECOND_SOURCE = { repoURL: "https://charts.example.com", chart: "payments", targetRevision: "1.2.3", helm: { releaseName: "p" } };
const SOURCE = { repoURL: "https://github.com/acme/config.git", path: "apps/payments", targetRevision: "main" };
/** Nothing bad, so that what stands in its place would be missed where it is not looked at. */
const CONDITIONS = [{ type: "OrphanedResourceWarning", message: "one", lastTransitionTime: at("10:00:09") }];

const HYDRATED = "e".repeat(40);
const HYDRATOR = { drySource: SOURCE, syncSource: { targetBranch: "env/eu", path: "eu" } };
const HYDRATION = { drySHA: COMMIT, hydratedSHA: HYDRATED, sourceHydrator: HYDRATOR };
const SYNCED = { repoURL: SOURCE.repoURL, path: "eu", targetRevision: "env/eu" };

const hydrated = (operations: Raw) =>
  merged(rawApplication(), {
    spec: { source: undefined, sourceHydrator: HYDRATOR },
    status: {
      conditions: CONDITIONS,
      sync: { revision: HYDRATED, comparedTo: { source: SYNCED } },
      operationState: { operation: { sync: { revision: HYDRATED } }, syncResult: { revision: HYDRATED, source: SYNCED } },
      sourceHydrator: operations,
    },
  });

export const BASES: Readonly<Record<string, () => Raw>> = {
  "one source": () => merged(rawApplication(), { metadata: { labels: { a: "b" } }, status: { conditions: CONDITIONS } }),
  "several sources": () =>
    merged(rawApplication(), {
      spec: { source: undefined, sources: [SOURCE, SECOND_SOURCE] },
      status: {
        conditions: CONDITIONS,
        sync: {
          revision: undefined,
          revisions: [COMMIT, "1.2.3"],
          comparedTo: { source: undefined, sources: [SOURCE, SECOND_SOURCE] },
        },
        operationState: {
          syncResult: { source: undefined, revision: undefined, sources: [SOURCE, SECOND_SOURCE], revisions: [COMMIT, "1.2.3"] },
        },
      },
    }),
  // Either proves it by itself, so each is looked at alone.
  "hydrated before": () => hydrated({ lastSuccessfulOperation: HYDRATION }),
  "just hydrated": () =>
    hydrated({
      currentOperation: { ...HYDRATION, phase: "Hydrated", finishedAt: at("10:00:03") },
      lastSuccessfulOperation: HYDRATION,
    }),
};

/** Every place below the root, objects and lists among them; and some where nothing stands that would stop it. */
export const LEAVES: Readonly<Record<string, readonly Path[]>> = Object.fromEntries(
  Object.entries(BASES).map(([name, base]) => [
    name,
    [
      ...pathsOf(base()),
      ["operation"],
      ["metadata", "deletionTimestamp"],
      ["status", "sync", "revisions"],
      ["spec", "sources"],
      ["spec", "sourceHydrator"],
    ],
  ]),
);

function pathsOf(value: unknown, at: Path = []): Path[] {
  const here = at.length === 0 ? [] : [at];
  if (typeof value !== "object" || value === null) return here;
  return [...here, ...Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, [...at, key]))];
}

const ODD: readonly unknown[] = [
  undefined,
  null,
  0,
  7,
  1.2,
  Number.NaN,
  true,
  false,
  "",
  "x",
  "Running",
  "a".repeat(5000),
  "x".repeat(100_000),
  [],
  {},
  [null],
  ["Running"],
  [{}],
  { a: 1 },
  { phase: "Running" },
  "2026-11-21 10:00:50",
  "2026-11-21",
  "tomorrow",
  at("10:00:30"),
  "9999-12-31T23:59:59Z",
  Array.from({ length: 150 }, () => "x"),
];
export const odd: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...ODD) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
);

/** The same for a place, and what stands there in other wrappings. */
export function laidOut(base: Raw, path: Path): readonly unknown[] {
  const was = get(base, path);
  return [...ODD, [was], { value: was }, { "0": was }, String(was), Array.from({ length: 150 }, () => was)];
}

export function put(raw: Raw, path: Path, value: unknown): Raw {
  const [first = "", ...rest] = path;
  const inner = rest.length === 0 ? value : put((raw[first] ?? {}) as Raw, rest, value);
  if (Array.isArray(raw)) return raw.map((one: unknown, i) => (String(i) === first ? inner : one)) as unknown as Raw;
  if (inner !== undefined) return { ...raw, [first]: inner };
  const { [first]: _, ...left } = raw;
  return left;
}

function get(raw: unknown, path: Path): unknown {
  return path.reduce<unknown>((one, key) => (one as Raw | undefined)?.[key], raw);
}

type Rule = [path: RegExp, when: (value: unknown, was: unknown, base: Raw) => boolean, why: string];

const anything = () => true;
const isNone = (value: unknown) => value === undefined || value === null;
const isShortText = (value: unknown) => typeof value === "string" && value.length <= 4096;
const isTime = (value: unknown) =>
  typeof value === "string" && value.length < 40 && /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(value);
const isPast = (value: unknown) => isTime(value) && Date.parse(String(value)) <= NOW - 10_000;
const isPlain = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Why an Application may be live although this stands there. */
const HARMLESS: readonly Rule[] = [
  [/^(apiVersion|kind)$/, anything, "whoever asked knows what was asked for"],
  [/^metadata\.(namespace|uid|resourceVersion|labels)(\.|$)/, anything, "says which one it is, and none was compared with another read"],
  [/^metadata\.name$/, isShortText, "the same"],
  [/^metadata$/, (value) => isPlain(value) && isShortText((value as Raw)["name"]), "the same"],
  [/^metadata\.deletionTimestamp$/, isNone, "it is not being deleted"],
  [/^operation$/, isNone, "nothing is asked for"],
  [/^spec\.project$/, (value) => isNone(value) || isShortText(value), "whose it is, not what it runs"],
  [/^spec\.syncPolicy(\.|$)/, anything, "how it is synced, which it has been"],
  [/^spec\.(sources|sourceHydrator)$/, (value) => isNone(value) || (Array.isArray(value) && value.length === 0), "there is none"],
  [/^spec\.sources$/, (_value, _was, base) => get(base, ["spec", "sourceHydrator"]) !== undefined, "a hydrator wins over it"],
  [/^status\.sourceHydrator\.currentOperation\.finishedAt$/, (value) => isNone(value) || isTime(value), "which commit it was proves it"],
  [/^status\.sourceHydrator\.currentOperation(\.|$)/, isAlike, "the last one that succeeded proves it"],
  [/^status\.sync\.revisions$/, (value) => isNone(value) || (Array.isArray(value) && value.length === 0), "there is one source"],
  [/^status\.sync\.revisions\.1$/, isShortText, "what was seen of a source that does not carry the change"],
  [/^status\.operationState$/, isNone, "a commit that changes nothing here needs no operation"],
  [/^status\.operationState\.startedAt$/, (value) => isNone(value) || isTime(value), "only said of one that runs"],
  [/^status\.operationState\.finishedAt$/, isPast, "it ended at another time, before the comparison"],
  [/^status\.operationState\.operation(\.|$)/, isAlike, "what was asked for matters where it failed"],
  [/\.syncResult\.sources\.\d+\.helm/, anything, "what was applied, of which no single field is read"],
  [/^status\.operationState\.syncResult(\.|$)/, isAlike, "what was applied matters where it failed"],
  [/^status\.health\.lastTransitionTime$/, (value) => isNone(value) || isPast(value), "Argo CD before 3.0 writes none"],
  [/^status\.reconciledAt$/, isPast, "compared at another time, after the merge"],
  [/^status\.conditions$/, (value) => isNone(value) || (Array.isArray(value) && value.length === 0), "there is none"],
  [/^status\.conditions\.0\.message$/, anything, "a message, of one that is not bad"],
  [/^status\.conditions\.0\.type$/, (value) => isShortText(value) && value !== "", "another one that is not bad"],
  [/^status\.conditions\.0\.lastTransitionTime$/, (value) => isNone(value) || isTime(value), "since when, of one that is not bad"],
  [/^status\.conditions\.0$/, (value) => isPlain(value) && isShortText((value as Raw)["type"]), "another one that is not bad"],
];

/** Of the type that stands there, whatever it says. */
function isAlike(value: unknown, was: unknown): boolean {
  if (isNone(value) || value === "") return true;
  if (typeof was === "string") return isShortText(value);
  return Array.isArray(was) ? Array.isArray(value) && value.length <= 100 : isPlain(value);
}

/** undefined: it must not be live with this value there. */
export function harmless(path: Path, value: unknown, base: Raw): string | undefined {
  if (Object.is(value, get(base, path))) return "it is what stood there";
  const place = path.join(".");
  return HARMLESS.find(([places, when]) => places.test(place) && when(value, get(base, path), base))?.[2];
}
