/**
 * What decisions use of an Application and cannot be read: of another type than Argo CD writes, too long, or too many.
 * Decoding takes such a field for absent, and absent may be as good as well: so it is named here, and what has one is never live.
 * What is not listed changes no decision (how a sync is done, labels, messages).
 */
import type { AnyReason } from "../../base/reason.ts";
import { livenessReason } from "../../reasons/liveness.ts";
import { isChild, isTime, isWord, MOST_CHILDREN, MOST_LISTED } from "./lenient.ts";

/** Where, below the value, something cannot be read: `""` for the value itself. No list is made where all is well. */
type Check = (value: unknown) => readonly string[];

const WELL: readonly string[] = [];
const ITSELF: readonly string[] = [""];
const MOST_NAMED = 5;

/** `""` is how Go writes an absent one. */
const word: Check = (value) => (value === "" || isWord(value) ? WELL : ITSELF);
const named: Check = (value) => (isWord(value) ? WELL : ITSELF);
const time: Check = (value) => (isTime(value) ? WELL : ITSELF);

/** `required`: keys without which the object says nothing. */
function object(checks: Readonly<Record<string, Check>>, ...required: readonly string[]): Check {
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return ITSELF;
    let found = WELL;
    for (const key in checks) {
      const inner = Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
      const bad = inner == null ? (required.includes(key) ? ITSELF : WELL) : (checks[key]?.(inner) ?? WELL);
      if (bad.length > 0)
        found = found.concat(bad.map((rest) => (rest === "" || rest.startsWith("[") ? `${key}${rest}` : `${key}.${rest}`)));
    }
    return found;
  };
}

function list(item: Check, most: number): Check {
  return (value) => {
    if (!Array.isArray(value) || value.length > most) return ITSELF;
    let found = WELL;
    for (let i = 0; i < value.length && found.length < MOST_NAMED; i++) {
      const bad = item(value[i]);
      if (bad.length > 0) found = found.concat(bad.map((rest) => (rest === "" ? `[${i}]` : `[${i}].${rest}`)));
    }
    return found;
  };
}

const source = object({ repoURL: word, path: word, chart: word, targetRevision: word, ref: word });
const sourceHydrator = object({
  drySource: object({ repoURL: word, path: word, targetRevision: word }),
  syncSource: object({ repoURL: word, path: word, targetBranch: word }),
  hydrateTo: object({ targetBranch: word }),
});
const SOURCES = { source, sources: list(source, MOST_LISTED), sourceHydrator };
const destination = object({ server: word, name: word, namespace: word });
const REVISIONS = { revision: word, revisions: list(word, MOST_LISTED) };
/** How many there are matters, and not what they say. */
const some: Check = (value) => (Array.isArray(value) ? WELL : ITSELF);
const asked = object({ sync: object({ ...REVISIONS, manifests: some }) });
const hydration = object({ phase: word, drySHA: word, hydratedSHA: word, finishedAt: time, sourceHydrator });

const STATE = { phase: named, startedAt: time, finishedAt: time, operation: asked, syncResult: object({ ...REVISIONS, ...SOURCES }) };
const going = object(STATE, "phase");
const over = object(STATE, "phase", "finishedAt");
/** Argo CD writes the end with the last phase; without it nobody knows whether the comparison is of before. */
const state: Check = (value) => (ENDED.has((value as { phase?: unknown } | null)?.phase) ? over : going)(value);
const ENDED: ReadonlySet<unknown> = new Set(["Succeeded", "Failed", "Error"]);

/** Argo CD writes what it has seen of one source, or of several: with both nobody knows which holds. */
function oneKind(sync: Check): Check {
  return (value) => {
    const found = sync(value);
    const { revision, revisions } = (value ?? {}) as { revision?: unknown; revisions?: unknown };
    const both = isWord(revision) && Array.isArray(revisions) && revisions.length > 0;
    return both ? found.concat("revision beside revisions") : found;
  };
}

const child = list(object({ namespace: named, name: named }, "namespace", "name"), MOST_CHILDREN);
/** Only Applications that it makes are looked at: the others are shown to people alone. */
const children: Check = (value) => (Array.isArray(value) ? child(value.filter((one) => isChild(one))) : WELL);

const APPLICATION = object({
  metadata: object({ ownerReferences: list(object({ kind: word, name: word, uid: word }), MOST_LISTED) }),
  spec: object({ ...SOURCES, project: word, destination }),
  operation: asked,
  status: object({
    sync: oneKind(object({ status: word, ...REVISIONS, comparedTo: object({ ...SOURCES, destination }) })),
    health: object({ status: word, lastTransitionTime: time }),
    operationState: state,
    // Of however many: the bad ones among them are looked for in all.
    conditions: list(object({ type: named, lastTransitionTime: time }, "type"), Number.POSITIVE_INFINITY),
    reconciledAt: time,
    resources: children,
    sourceHydrator: object({ currentOperation: hydration, lastSuccessfulOperation: hydration, lastComparedDryRevision: word }),
  }),
});

/** Paths such as `status.conditions[2].type`, the first few; undefined: everything can be read. Never throws. */
export function unreadableOf(raw: unknown): AnyReason | undefined {
  const found = APPLICATION(raw);
  return found.length === 0 ? undefined : livenessReason("FIELDS_UNREADABLE", { fields: found.slice(0, MOST_NAMED) });
}
