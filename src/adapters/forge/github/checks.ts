/**
 * Writes our check runs, each once, and reads everybody's checks and statuses at a commit. Called by `index.ts`.
 */
import { createHash } from "node:crypto";
import type { RestEndpointMethodTypes } from "@octokit/rest";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { defined } from "../../../core/base/defined.ts";
import type { CheckReport, CheckSeen } from "../port.ts";
import { serialByKey } from "./by-key.ts";
import { asking, askingOrNone } from "./errors.ts";
import { NEVER_RETRY, type RepoOctokit } from "./octokit.ts";
import type { Shared } from "./shared.ts";

/** GitHub's limits, kept here as the last line of defence: whoever writes the texts shortens them with more sense. */
const CHECK_TEXT_LIMIT = 65_535;
const ANNOTATIONS_A_REQUEST = 50;
const TITLE_LIMIT = 250;
const MOST_KNOWN = 1000;

type Update = RestEndpointMethodTypes["checks"]["update"]["parameters"];
type Output = NonNullable<Update["output"]>;
type Annotation = NonNullable<Output["annotations"]>[number];

interface There {
  id: number;
  /** Of all that was said last, kept as `external_id`, so that a restarted process knows it again. */
  said: string;
  completed: boolean;
  annotated: boolean;
}

/**
 * Posts a check run once and completes it once. A run that says the same already is left alone, by a restarted process too.
 * GitHub only ever adds annotations and does not open what was completed: where either is in the way a new run of the same
 * name takes the place of the old one; and so does what somebody asked for again by "Re-run".
 */
export function checkWriter(
  { place, freshCommits }: Shared,
  identity: () => Promise<{ login: string }>,
): (check: CheckReport) => Promise<void> {
  const known = new BoundedMap<string, There>(MOST_KNOWN);
  /** Sent, and not answered: whether they are there has to be looked for. */
  const doubtful = new Set<string>();
  const turn = serialByKey();
  // One after the other for each run: two at once would each find none, and make two.
  return (check) => turn(`${check.head} ${check.name}`, () => put(`${check.head} ${check.name}`, check));

  async function put(key: string, check: CheckReport): Promise<void> {
    const said = fingerprint(check);
    const fresh = freshCommits.has(check.head) && !doubtful.has(key);
    const there = known.get(key) ?? (fresh ? undefined : await find(place, (await identity()).login, check));
    if (there?.said === said && check.afresh !== true) {
      known.set(key, there);
      return;
    }
    // What is known stops being so with the first byte sent: an answer may get lost.
    known.delete(key);
    doubtful.add(key);
    const anew = check.afresh === true || there === undefined || there.annotated || (there.completed && check.status !== "completed");
    const id = await send(place, check, said, anew ? undefined : there?.id);
    doubtful.delete(key);
    known.set(key, { id, said, completed: check.status === "completed", annotated: (check.annotations ?? []).length > 0 });
  }
}

/** The first request carries the first 50 annotations; the last one alone says what the whole is, and completes it. */
async function send(place: RepoOctokit, check: CheckReport, said: string, id: number | undefined): Promise<number> {
  const parts = inParts((check.annotations ?? []).map(annotation));
  let at = id;
  for (const [index, annotations] of parts.entries()) {
    const last = index === parts.length - 1;
    const state = last ? stateOf(check) : { status: "in_progress" as const };
    const fields = defined({
      ...state,
      external_id: last ? said : undefined,
      details_url: check.detailsUrl,
      output: defined({ ...outputOf(check), annotations: annotations.length === 0 ? undefined : annotations }),
    });
    at = await write(place, check, at, fields);
  }
  return at ?? 0;
}

async function write(
  place: RepoOctokit,
  check: CheckReport,
  id: number | undefined,
  fields: Omit<Update, "owner" | "repo" | "check_run_id">,
): Promise<number> {
  const { octokit, owner, repo } = place;
  return asking(async () => {
    if (id !== undefined)
      return (await octokit.rest.checks.update({ owner, repo, check_run_id: id, ...fields, ...NEVER_RETRY } as Update)).data.id;
    const made = { owner, repo, name: check.name, head_sha: check.head, ...fields, ...NEVER_RETRY };
    return (await octokit.rest.checks.create(made as RestEndpointMethodTypes["checks"]["create"]["parameters"])).data.id;
  });
}

async function find(place: RepoOctokit, login: string, check: CheckReport): Promise<There | undefined> {
  const { octokit, owner, repo } = place;
  const { data } = await asking(() =>
    octokit.rest.checks.listForRef({ owner, repo, ref: check.head, check_name: check.name, per_page: 100 }),
  );
  const ours = data.check_runs.filter((run) => `${run.app?.slug}[bot]` === login).sort((a, b) => b.id - a.id)[0];
  if (ours === undefined) return undefined;
  const { id, external_id: said, status, output } = ours;
  return { id, said: said ?? "", completed: status === "completed", annotated: output.annotations_count > 0 };
}

function fingerprint(check: CheckReport): string {
  const { status, conclusion, title, summary, text, detailsUrl, annotations } = check;
  const all = JSON.stringify([status, conclusion, title, summary, text, detailsUrl, annotations ?? []]);
  return `stagecoach:${createHash("sha256").update(all).digest("hex").slice(0, 40)}`;
}

function stateOf(check: CheckReport): Pick<Update, "status" | "conclusion"> {
  if (check.status !== "completed") return { status: check.status };
  return { status: "completed", conclusion: check.conclusion ?? "neutral" };
}

function outputOf(check: CheckReport): Output {
  return defined({
    title: cutText(check.title, TITLE_LIMIT),
    summary: boundedBytes(check.summary),
    text: check.text === undefined ? undefined : boundedBytes(check.text),
  });
}

function annotation(one: NonNullable<CheckReport["annotations"]>[number]): Annotation {
  return defined({
    path: one.path,
    start_line: one.line,
    end_line: one.line,
    annotation_level: one.level,
    message: boundedBytes(one.message),
    title: one.title === undefined ? undefined : cutText(one.title, TITLE_LIMIT),
  });
}

/** At least one part, though there is nothing in it. */
function inParts(annotations: readonly Annotation[]): Annotation[][] {
  const parts = Math.max(1, Math.ceil(annotations.length / ANNOTATIONS_A_REQUEST));
  return Array.from({ length: parts }, (_, part) => annotations.slice(part * ANNOTATIONS_A_REQUEST, (part + 1) * ANNOTATIONS_A_REQUEST));
}

/** Cuts a text to so many characters, and never leaves half of one. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const code = text.charCodeAt(limit - 2);
  return `${text.slice(0, code >= 0xd800 && code <= 0xdbff ? limit - 2 : limit - 1)}…`;
}

/** GitHub says characters and counts bytes. */
function boundedBytes(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= CHECK_TEXT_LIMIT) return text;
  let end = CHECK_TEXT_LIMIT - 3;
  // Back to where a character begins: all its further bytes are 10xxxxxx.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return `${bytes.toString("utf8", 0, end)}…`;
}

/** Check runs and commit statuses at a commit, the newest of each name and App. */
export async function checksOf(place: RepoOctokit, head: string): Promise<CheckSeen[]> {
  const newest = new Map<string, CheckSeen>();
  for (const seen of [...(await checkRuns(place, head)), ...(await statuses(place, head))]) {
    const key = `${seen.name}\n${seen.app ?? ""}`;
    const known = newest.get(key);
    if (known === undefined || known.at <= seen.at) newest.set(key, seen);
  }
  return [...newest.values()];
}

async function checkRuns({ octokit, owner, repo }: RepoOctokit, head: string): Promise<CheckSeen[]> {
  const runs = await asking(() => octokit.paginate(octokit.rest.checks.listForRef, { owner, repo, ref: head, per_page: 100 }));
  return runs
    .toSorted((a, b) => a.id - b.id)
    .map((run) =>
      defined({
        name: run.name,
        app: run.app?.id,
        state: run.status === "completed" ? stateOfWord(run.conclusion ?? "") : "pending",
        detail: run.conclusion ?? run.status,
        url: run.html_url ?? undefined,
        title: run.output.title ?? undefined,
        at: time(run.completed_at ?? run.started_at),
      }),
    );
}

/** Statuses may be hidden from the App: `statuses: read` is optional. */
async function statuses({ octokit, owner, repo }: RepoOctokit, head: string): Promise<CheckSeen[]> {
  const found = await askingOrNone(() => octokit.rest.repos.getCombinedStatusForRef({ owner, repo, ref: head, per_page: 100 }), [403, 404]);
  return (found?.data.statuses ?? []).map((status) =>
    defined({
      name: status.context,
      state: status.state === "pending" ? "pending" : stateOfWord(status.state),
      detail: status.state,
      url: status.target_url ?? undefined,
      at: time(status.updated_at),
    }),
  );
}

/** A check that was skipped or is neutral does not hold a merge. */
function stateOfWord(word: string): CheckSeen["state"] {
  if (word === "success") return "success";
  return word === "neutral" || word === "skipped" ? "neutral" : "failure";
}

function time(text: string | null): string {
  return text === null ? new Date(0).toISOString() : new Date(text).toISOString();
}
