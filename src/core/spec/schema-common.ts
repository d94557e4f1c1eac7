import { z } from "zod";
import { show } from "../base/problem.ts";
import { OPERATORS } from "../base/selector.ts";
import { type ProblemData, packReason } from "../reasons/problems/problem.ts";

/** Describes a key: the JSON Schema and the reference page say it. */
export function key<T extends z.ZodType>(schema: T, description: string): T {
  return schema.describe(description);
}

/** What the pattern of a duration is, as `parseDuration` reads it. */
export const DURATION = /^(0|(\d+(\.\d+)?(ms|s|m|h|d))+)$/;

export const duration = z.string({ error: badDuration }).regex(DURATION, { error: badDuration });

function badDuration({ input }: { input?: unknown }): string {
  const isBare = (typeof input === "number" || typeof input === "string") && /^\d+$/.test(String(input));
  return packReason({ code: "BAD_DURATION", kind: "Text", given: show(input), bare: isBare ? String(input) : undefined });
}

function quantityOf(zeroAllowed: boolean) {
  const least = zeroAllowed ? 0 : 1;
  const error = ({ input }: { input?: unknown }) => packReason({ code: "BAD_QUANTITY", ...faultOf(input, least) });
  const percent = zeroAllowed ? /^(100|\d{1,2})%$/ : /^(100|[1-9]\d?)%$/;
  return z.union([z.int({ error }).min(least, { error }), z.string({ error }).regex(percent, { error })], { error });
}

/** A count of at least 1, or a percentage from 1% to 100%. */
export const quantity = quantityOf(false);
/** A count, or a percentage, both from 0. */
export const budget = quantityOf(true);

function faultOf(input: unknown, least: number): ProblemData<"BAD_QUANTITY"> {
  const given = show(input);
  if (typeof input === "number" && input > Number.MAX_SAFE_INTEGER)
    return { kind: "TooLarge", given, most: String(Number.MAX_SAFE_INTEGER) };
  if (typeof input === "number")
    return Number.isInteger(input) ? { kind: "TooSmall", given, least: String(least) } : { kind: "NotWhole", given };
  if (typeof input !== "string") return { kind: "Neither", given };
  const amount = /^(-?\d+(?:\.\d+)?)\s*%$/.exec(input)?.[1];
  if (amount !== undefined && Number(amount) > 100) return { kind: "Over100", given };
  if (amount !== undefined && !Number.isInteger(Number(amount))) return { kind: "NotWholePercent", given };
  if (amount !== undefined) return { kind: "TooSmall", given, least: `${least}%` };
  if (!/^-?\d+$/.test(input)) return { kind: "Neither", given };
  if (Number(input) < least) return { kind: "TooSmall", given, least: String(least) };
  return { kind: "Quoted", given, bare: input, percent: Number(input) <= 100 };
}

function notText(kind: "LabelValue" | "Text", input: unknown): string {
  return packReason({ code: "WRONG_TYPE", kind, given: show(input), quoted: JSON.stringify(String(input)) });
}

export const labelText = z.string({ error: ({ input }) => notText("LabelValue", input) });

/** A Kubernetes label selector. */
export const selector = z.strictObject({
  matchLabels: key(z.record(z.string(), labelText).default({}), "Labels that must be there with exactly these values."),
  matchExpressions: key(
    z
      .array(
        z.strictObject({
          key: key(z.string().min(1), "Label. `name` and `server` mean the cluster's own where it has no such label."),
          operator: key(z.enum(OPERATORS), "`In`, `NotIn`, `Exists` or `DoesNotExist`. `NotIn` holds where the label is absent."),
          values: key(z.array(labelText).default([]), "For `In` and `NotIn`: at least one. For the others: none."),
        }),
      )
      .default([]),
    "Requirements that must all hold.",
  ),
});

/** Text that people forget to quote: versions and the like. */
export const text = z.string({
  error: (issue) => (typeof issue.input === "number" || typeof issue.input === "boolean" ? notText("Text", issue.input) : undefined),
});

/** A team is named as in its address: `github.com/orgs/ORG/teams/SLUG`. */
const SLUG = /^[A-Za-z0-9][\w.-]{0,99}$/;

export const team = text.regex(SLUG, {
  error: ({ input }) => packReason({ code: "BAD_VALUE", kind: "Team", given: show(input), slug: slugLike(String(input)) }),
});

/** As GitHub makes a slug of a team's name. */
function slugLike(written: string): string {
  const last = written.split("/").at(-1) ?? "";
  const made = last
    .slice(0, 200)
    .toLowerCase()
    .replace(/[^a-z0-9_.-]+/g, "-")
    .replace(/^[^a-z0-9]+|(?<!-)-+$/g, "");
  return SLUG.test(last) ? last : SLUG.test(made) ? made : "sre";
}

/** One window of time. Also of a stage. */
export const windowSchema = z.strictObject({
  schedule: key(text.min(1).max(200), "When it begins: cron with five fields, `0 9 * * 1-5`."),
  duration: key(duration, "How long it lasts from then, in elapsed time."),
  timeZone: key(text.min(1).max(100).default("UTC"), "IANA name, such as `Europe/Rome`. Daylight saving is followed."),
  kind: key(z.enum(["allow", "deny"]).default("allow"), "`allow`: batches may merge while it is on. `deny`: they may not."),
});

/** A window of the repo's settings or the server's: whom it binds can be narrowed. */
export const freezeSchema = windowSchema.extend({
  selector: key(selector.optional(), "Binds batches that hold a cluster with these labels. Default: all."),
  rollouts: key(z.array(text.min(1)).min(1).max(200).optional(), "Names of the rollouts that it binds. Default: all."),
  stages: key(z.array(text.min(1)).min(1).max(200).optional(), "Names of the stages that it binds. Default: all."),
});

export const rolloutWindowSchema = freezeSchema.omit({ rollouts: true });

export const stageWindowSchema = rolloutWindowSchema.omit({ stages: true });

const limit = {
  clusters: key(z.int().min(1).optional(), "Most clusters in flight at once."),
  targets: key(z.int().min(1).optional(), "Most Applications in flight at once."),
  label: key(
    z
      .strictObject({
        key: key(text.min(1), "Label of clusters, such as `region`."),
        percent: key(z.int().min(1).max(100), "Most of the clusters of one value in flight at once, rounded down, at least 1."),
      })
      .optional(),
    "Most clusters in flight at once of those that have the same value of a label.",
  ),
};

const limited = z.strictObject({
  selector: key(selector.optional(), "Counts clusters with these labels. Default: all."),
  rollouts: key(z.array(text.min(1)).min(1).max(200).optional(), "Names of the rollouts whose runs it counts. Default: all."),
  stages: key(
    z.array(text.min(1)).min(1).max(200).optional(),
    "Names of the stages whose batches it counts. Default: all. Percentages stay of all clusters.",
  ),
  ...limit,
});

const SELECTED = "Limits of their own for some clusters or stages, such as production's, besides the others.";

/** Of the repo's settings. */
export const limitsSchema = z.strictObject({ ...limit, selected: key(z.array(limited).min(1).max(20).optional(), SELECTED) });

export const rolloutLimitsSchema = z.strictObject({
  ...limit,
  selected: key(
    z
      .array(limited.omit({ rollouts: true }))
      .min(1)
      .max(20)
      .optional(),
    SELECTED,
  ),
});

/** Of either: most that may be in flight together. */
export type Limits = z.output<typeof limitsSchema>;

export const sourceRefSchema = z.strictObject({
  apiGroup: key(text.default("argoproj.io/v1alpha1"), "Group (and version) of the owner."),
  kind: key(
    z.enum(["ApplicationSet", "Application"]),
    "`ApplicationSet`: all that the sets make. `Application`: hand-written or generated ones, by `selector`.",
  ),
  name: key(text.min(1).optional(), "Name of the ApplicationSet."),
  names: key(z.array(text.min(1)).min(1).max(200).optional(), "In place of `name`: several ApplicationSets, carried as one."),
  namespace: key(text.min(1).default("argocd"), "Its namespace."),
  controlPlane: key(
    z.union([text.min(1), z.array(text.min(1)).min(1)]).optional(),
    "The Argo CD instance, or a list of them. Default: the only one configured.",
  ),
  selector: key(selector.optional(), "Label selector over Applications; with `kind: ApplicationSet` over the labels of sets."),
  unverified: key(
    z.boolean().default(false),
    "Go on where an ApplicationSet can be rendered neither offline nor by Argo CD: the check that nothing is deleted is then left out. One that stands in another repo, or lives otherwise than it stands in Git, is judged by the live set.",
  ),
});

export const copySchema = z.strictObject({
  from: key(text.min(1), "Directory that holds what is released; a template."),
  to: key(text.min(1), "Directory that becomes its copy; a template."),
});
