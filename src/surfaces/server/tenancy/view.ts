/**
 * What is shown of one repository, by whoever looks after it: taken of what its rounds left, written down for the other replicas, and read
 * again there. What is read was written by another version of the bot, or by somebody else: it is checked as anything from outside is.
 */
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { z } from "zod";
import { runFromText, runToText } from "../../../adapters/git/journal/run-text.ts";
import { releasePullSchema } from "../../../core/report/model/schema/plan.ts";
import { runSchema } from "../../../core/report/model/schema/run.ts";
import type { History } from "../../../core/report/plan/duration.ts";
import { plainSentence, sentenceOf } from "../../../core/report/reasons/say.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { LookedAfter, Standing } from "../../web/source.ts";
import type { Heard } from "../comments/heard.ts";
import type { ServedRepo } from "./served-repo.ts";

/** Raised with every change that an older version could not read; what is only added is passed over by it. */
export const VIEW_FORMAT = 1;
/** Unpacked. */
const LARGEST_TEXT = 128 * 1024 * 1024;
/** The part that holds all but the runs: no rollout has its name. */
export const BESIDE = "";

export interface View extends LookedAfter, Standing {
  runs: readonly { run: Run; history: History | undefined }[];
  heard: readonly Heard[];
  /** The commit of the journal that its owner goes by. */
  journalHead: string | undefined;
}

export function viewOf({ context, journal, loop, runs, refused, inbox }: ServedRepo): View {
  const { repository, attention } = context;
  const unread = [...(journal?.broken ?? [])].map(([rollout, { run, file, why }]) => {
    const says = typeof why === "string" ? why : plainSentence(why);
    return { rollout, run, file, says };
  });
  return {
    repository,
    ...{ state: journal === undefined ? "Reading" : journal.isHeld ? "Held" : "Read", idle: journal?.idle ?? [], unread },
    releases: loop.shownPlans.of(),
    ...{ attention: (attention?.told() ?? []).map((reason) => sentenceOf(reason)), refused },
    runs: [...runs.values()].map((run) => ({ run, history: loop.pastRuns.of(run) })),
    heard: inbox.heard(),
    journalHead: context.journal.head(),
  };
}

const text = z.string();
const besideSchema = z.object({
  repository: text.regex(/^[\w.-]{1,100}\/[\w.-]{1,100}$/),
  state: z.enum(["Reading", "Read", "Held"]),
  idle: z.array(text),
  unread: z.array(z.object({ rollout: text, run: z.int(), file: text, says: text })),
  releases: z.array(releasePullSchema).max(1000),
  attention: z.array(text),
  refused: z.array(runSchema.shape.refused.unwrap()),
  heard: z.array(runSchema.shape.commands.element.extend({ pull: z.int() })).max(1000),
  rollouts: z.array(text).max(10_000),
  journalHead: text.regex(/^[0-9a-f]{40,64}$/).optional(),
});

/** All but the runs, as read. */
export type Beside = z.output<typeof besideSchema>;

export function besideText({ runs, ...view }: View): string {
  return JSON.stringify({ ...view, rollouts: runs.map(({ run }) => run.rollout) } satisfies Record<keyof Beside, unknown>);
}

const selectable = z.object({ name: text, server: text.optional(), labels: z.record(text, text) });
const historySchema = z.object({
  stages: z.array(z.tuple([text, z.array(z.number())])),
  totals: z.array(z.number()),
  freezes: z.array(z.looseObject({ schedule: text, durationMs: z.number(), timeZone: text, kind: z.enum(["allow", "deny"]) })).optional(),
  clusters: z.array(z.tuple([text, selectable])).optional(),
});

export function historyText(history: History | undefined): string {
  if (history === undefined) return "null";
  const { stages, totals, freezes = [], clusters } = history;
  // Which clusters there are matters to freezes alone.
  const bound = freezes.length === 0 ? {} : { freezes, clusters: clusters && [...clusters] };
  return JSON.stringify({ stages: [...stages], totals, ...bound } satisfies Record<"stages" | "totals", unknown>);
}

/** `history`: its text. */
export function pack(run: Run, history: string): Promise<Buffer> {
  return packed(`${history}\n${runToText(run)}`);
}

export const packBeside = (beside: string): Promise<Buffer> => packed(beside);

/** What stands for a run that is too large: its number. */
export const packNumber = (run: Run): Promise<Buffer> => packed(String(run.number));

/** Throws where it is none of ours. */
export async function unpackBeside(content: Uint8Array): Promise<Beside> {
  const read = besideSchema.parse(JSON.parse(await unpacked(content)));
  for (const link of read.releases.flatMap(({ links }) => links)) checkLink(link.url);
  return read;
}

/** A number: the run is too large to be shown. Throws where it is none of ours. */
export async function unpackRun(content: Uint8Array, rollout: string): Promise<{ run: Run; history: History | undefined } | number> {
  const given = await unpacked(content);
  if (/^\d{1,9}$/.test(given)) return Number(given);
  const end = given.indexOf("\n");
  const known = historySchema.nullable().parse(JSON.parse(given.slice(0, Math.max(0, end))));
  const run = runFromText(given.slice(end + 1), rollout);
  for (const { pull } of run.batches) if (pull !== undefined) checkLink(pull.url);
  if (known === null) return { run, history: undefined };
  const { stages, totals, freezes, clusters } = known;
  const history = { stages: new Map(stages), totals, freezes, clusters: clusters && new Map(clusters) };
  return { run, history: history as unknown as History };
}

/** What somebody may press. */
function checkLink(url: string): void {
  if (!/^https?:\/\//i.test(url)) throw new Error("a link that is no address");
}

async function packed(given: string): Promise<Buffer> {
  return await promisify(gzip)(given, { level: 4 });
}

async function unpacked(content: Uint8Array): Promise<string> {
  const unzip: (content: Uint8Array, options: object) => Promise<Buffer> = promisify(gunzip);
  return (await unzip(content, { maxOutputLength: LARGEST_TEXT })).toString("utf8");
}
