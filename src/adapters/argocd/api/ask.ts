/**
 * What is asked of Argo CD's API about one Application or ApplicationSet at a time: read by its name, its sync windows, what it would
 * generate. Called by `index.ts` for a control plane's methods of these names; nothing rejects but `byName`.
 */
import { decodeApplication, withheldApplication } from "../../../core/argocd/decode/application.ts";
import { child, fields, list, word } from "../../../core/argocd/decode/lenient.ts";
import { assessWindows, decodeWindows, windowsOfProject } from "../../../core/argocd/decode/windows.ts";
import type { ApplicationSetView, ApplicationView, SyncWindowsView } from "../../../core/argocd/views.ts";
import { defined } from "../../../core/base/defined.ts";
import { isRecord } from "../../../core/base/is-record.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { epoch, iso } from "../../../core/base/time.ts";
import { planeReason as reason } from "../../../core/reasons/control-plane.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import type { GenerateOutcome, RereadOutcome } from "../port.ts";
import { reasonOf, saysNotFound, statusOf, WireError } from "../wire/http.ts";
import type { Shape } from "../wire/shape.ts";
import { APPLICATION, APPLICATION_BY_NAME } from "../wire/shapes.ts";
import type { ArgoClient, Query } from "./client.ts";
import type { MissingOptions } from "./missing.ts";
import { applicationPath, applicationQuery } from "./rollouts.ts";

/** An answer by name is one object: whoever waits longer asks again. */
const REREAD_TOTAL_MS = 10_000;

/**
 * An Application by its name. Argo CD answers from the Kubernetes API and not from its own memory, as it does for lists and
 * streams. With `refresh` it compares first, and answers when it is done, or says 504; the request stands either way. undefined:
 * there is none. Rejects with WireError. What its cluster said stands: it was not asked anew.
 */
export async function byName(
  client: ArgoClient,
  application: ApplicationView,
  { refresh = false, totalMs, now }: { refresh?: boolean; totalMs: number; now: number },
): Promise<ApplicationView | undefined> {
  const query = defined({ ...applicationQuery(application), refresh: refresh ? "normal" : undefined });
  const view = (await rawByName(client, application, { query, shape: APPLICATION, totalMs, now }))?.view;
  return view && defined({ ...view, clusterAnswer: answerOf(application, view) });
}

export async function rawByName(
  client: ArgoClient,
  application: ApplicationView,
  { query, shape, totalMs, now }: { query: Query; shape: Shape; totalMs: number; now: number },
): Promise<{ raw: unknown; view: ApplicationView } | undefined> {
  try {
    const raw = await client.get(applicationPath(application.name), query, { shape, totalMs });
    const view = decodeApplication(raw, now);
    if (view === undefined) throw new WireError(0, reason("ANSWER_NO_APPLICATION"));
    return { raw, view };
  } catch (error) {
    if (saysNotFound(error, application.name)) return undefined;
    throw error;
  }
}

/** Why an Application cannot be got, with the line of policy where that is what it wants. */
export function refusalOf(error: unknown, view: ApplicationView): AnyReason {
  const because = reasonOf(error);
  return statusOf(error) === 403 ? reason("GRANT_WANTED", { because, grant: policyOf(view) }) : because;
}

function policyOf({ spec }: ApplicationView): string {
  return `p, ACCOUNT, applications, get, ${spec.project || "default"}/*, allow`;
}

/** Why Applications and ApplicationSets are not in a list any more. With its project, Argo CD says of one that is gone that it is not found. */
export function missingOf(
  client: ArgoClient,
  now: () => number,
): { applications: MissingOptions<ApplicationView>; sets: MissingOptions<ApplicationSetView> } {
  return {
    applications: {
      ask: (view) => byName(client, view, { totalMs: REREAD_TOTAL_MS, now: now() }),
      withhold: withheldApplication,
      grant: policyOf,
    },
    sets: {
      ask: (view) => setByName(client, view),
      withhold: (view, unreadable) => ({ ...view, unreadable }),
      grant: () => "p, ACCOUNT, applicationsets, get, PROJECT/*, allow",
    },
  };
}

async function setByName(client: ArgoClient, { namespace, name }: ApplicationSetView): Promise<void> {
  const limits = { shape: { "*": false }, totalMs: REREAD_TOTAL_MS };
  try {
    await client.get(`/api/v1/applicationsets/${encodeURIComponent(name)}`, { appsetNamespace: namespace }, limits);
  } catch (error) {
    if (!saysNotFound(error, name)) throw error;
  }
}

/** Reads one anew, asks its cluster for a sign of life, and hands over what there is. */
export async function rereadApplication(
  client: ArgoClient,
  application: ApplicationView,
  now: number,
  take: (view: ApplicationView | undefined) => void,
): Promise<RereadOutcome> {
  try {
    const limits = { query: applicationQuery(application), shape: APPLICATION_BY_NAME, totalMs: REREAD_TOTAL_MS, now };
    const { raw, view } = (await rawByName(client, application, limits)) ?? {};
    take(view && defined({ ...view, clusterAnswer: await askCluster(client, view, raw, now, answerOf(application, view)) }));
    return view === undefined ? { kind: "gone" } : { kind: "read" };
  } catch (error) {
    return { kind: "failed", why: refusalOf(error, application) };
  }
}

/**
 * Asks for one object of an Application, which Argo CD gets from the cluster itself and not from its memory: it goes on comparing with what
 * it remembers long after a cluster is gone. One that cannot be had may be at fault itself, such as one whose kind is gone: then for one
 * of another kind, too, and the next time for another first. undefined: there is none that may be asked for.
 */
async function askCluster(client: ArgoClient, view: ApplicationView, raw: unknown, now: number, before: Answer): Promise<Answer> {
  let unclear: Answer;
  for (const one of twoToAsk(raw, before?.of)) {
    const named = { resourceName: word(one, "name"), version: word(one, "version"), kind: word(one, "kind") };
    const query = defined({ ...applicationQuery(view), ...named, group: word(one, "group"), namespace: word(one, "namespace") });
    try {
      await client.get(`${applicationPath(view.name)}/resource`, query, { shape: { "*": false }, totalMs: REREAD_TOTAL_MS });
      return { at: iso(now) };
    } catch (error) {
      const message = sentenceOf(reasonOf(error)).slice(0, 300);
      const missed = { at: iso(now), of: idOf(one) };
      if (isOutOfReach(error, message)) return { ...missed, failed: message, since: silentSince(before, now) };
      if (statusOf(error) === 500 || statusOf(error) === 0) unclear ??= { ...missed, unclear: message };
    }
  }
  return unclear;
}

/** What is known of the cluster from before, if it is the same Application. */
function answerOf(known: ApplicationView, view: ApplicationView): Answer {
  return known.uid === view.uid ? known.clusterAnswer : undefined;
}

type Answer = ApplicationView["clusterAnswer"];
type Fields = ReturnType<typeof fields>;

/** The first after the one that was not got the last time, and after that the first of another kind. */
function twoToAsk(raw: unknown, last: string | undefined): Fields[] {
  const listed = list(child(fields(raw), "status"), "resources")
    .slice(0, MOST_LOOKED_AT)
    .map(fields)
    .filter((one) => word(one, "kind") !== "Secret" && word(one, "kind") !== undefined && word(one, "name") !== undefined);
  const from = listed.findIndex((one) => idOf(one) === last) + 1;
  const turned = [...listed.slice(from), ...listed.slice(0, from)];
  const [first] = turned;
  if (first === undefined) return [];
  const other = turned.find((one) => kindOf(one) !== kindOf(first));
  return other === undefined ? [first] : [first, other];
}

function kindOf(one: Fields): string {
  return `${word(one, "group") ?? ""}/${word(one, "kind")}`;
}

function idOf(one: Fields): string {
  return `${kindOf(one)}/${word(one, "namespace") ?? ""}/${word(one, "name")}`.slice(0, 600);
}

const OUT_OF_REACH = new RegExp(
  [
    "dial (tcp|udp)|i/o timeout|no such host|no route to host|network is (unreachable|down)|connection (refused|reset|timed out|lost)",
    "TLS handshake timeout|deadline exceeded|Client\\.Timeout|\\bEOF\\b|was refused - did you specify|failed to get cluster (info|version)",
  ].join("|"),
  "i",
);

/** What Argo CD waits for in vain, or says of the way to the cluster; not what it fails at before it asks there, such as its own cache. */
function isOutOfReach(error: unknown, message: string): boolean {
  const { code } = reasonOf(error);
  if (code === "HOST_SILENT" || code === "HOST_SLOW") return true;
  return statusOf(error) >= 500 && !/error getting app(lication)?\b/i.test(message) && OUT_OF_REACH.test(message);
}

/** One that was not asked for long may have answered many times in between. */
function silentSince(before: Answer, now: number): string {
  const isSame = before?.failed !== undefined && now - epoch(before.at) < MOST_BETWEEN_MS;
  return isSame ? (before.since ?? before.at) : iso(now);
}

const MOST_BETWEEN_MS = 5 * 60_000;
const MOST_LOOKED_AT = 100;

/**
 * The sync windows of an Application, as Argo CD itself judges them. Their time zones are told only by the project, which one
 * may not be allowed to get: then there is no time of the next opening.
 */
export async function readSyncWindows(client: ArgoClient, application: ApplicationView, now: number): Promise<SyncWindowsView | undefined> {
  try {
    const answer = fields(await client.get(`${applicationPath(application.name)}/syncwindows`, applicationQuery(application)));
    const assigned = decodeWindows(list(answer, "assignedWindows"));
    const active = decodeWindows(list(answer, "activeWindows"));
    const allowed = !assigned.some(({ kind }) => kind === "allow") || active.some(({ kind }) => kind === "allow");
    const open = allowed && !active.some(({ kind }) => kind === "deny");
    const detailed = assigned.length === 0 ? [] : await ofProject(client, application);
    if (detailed?.length === assigned.length) return assessWindows(detailed, now, { open });
    return assessWindows(assigned, now, { open, zonesKnown: false });
  } catch {
    return undefined;
  }
}

async function ofProject(client: ArgoClient, application: ApplicationView): Promise<SyncWindowsView["windows"] | undefined> {
  try {
    const name = application.spec.project || "default";
    const shape = { "*": false, spec: { "*": false, syncWindows: true } };
    const project = await client.get(`/api/v1/projects/${encodeURIComponent(name)}`, {}, { shape });
    return decodeWindows(windowsOfProject(project, application));
  } catch {
    return undefined;
  }
}

/** Asks Argo CD what it would generate from an ApplicationSet. Needs the right to create ApplicationSets in its project. */
export async function generateSet(client: ArgoClient, applicationSet: Record<string, unknown>): Promise<GenerateOutcome> {
  try {
    const answer = await client.post("/api/v1/applicationsets/generate", { applicationSet });
    const applications = list(fields(answer), "applications").filter(isRecord);
    return { kind: "done", applications };
  } catch (error) {
    if (statusOf(error) !== 403) return { kind: "failed", why: reasonOf(error) };
    const grant = "p, ACCOUNT, applicationsets, create, PROJECT/*, allow";
    return { kind: "forbidden", why: reason("GRANT_WANTED", { because: reasonOf(error), grant }) };
  }
}
