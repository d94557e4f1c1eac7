import { z } from "zod";
import { say, show } from "../base/problem.ts";

/** Marks of a key in the schema. `planned`: in the schema, not built yet. `built`: of an enumeration, the values that are. */
export interface KeyMarks {
  description: string;
  planned?: boolean;
  built?: readonly string[];
}

const MARKS = new WeakMap<object, KeyMarks>();

/** What `key`, `planned` or `partly` said of a schema. */
export function marksOf(schema: object): KeyMarks | undefined {
  return MARKS.get(schema);
}

function mark<T extends z.ZodType>(schema: T, marks: KeyMarks): T {
  const described = schema.describe(marks.description);
  MARKS.set(described, marks);
  return described;
}

/** A key that works. */
export function key<T extends z.ZodType>(schema: T, description: string): T {
  return mark(schema, { description });
}

/** A key that is part of the resource and not built yet: using it is an error, never ignored. */
export function planned<T extends z.ZodType>(schema: T, description: string): z.ZodOptional<T> {
  return mark(schema.optional(), { description: `${description} Not available in this version.`, planned: true });
}

/** A choice of which only some values are built. */
export function partly<T extends z.ZodType>(schema: T, built: readonly string[], description: string): T {
  return mark(schema, { description: `${description} Available in this version: ${built.join(", ")}.`, built });
}

/** What the pattern of a duration is, as `parseDuration` reads it. */
export const DURATION = /^(0|(\d+(\.\d+)?(ms|s|m|h|d))+)$/;

export const duration = z.string({ error: badDuration }).regex(DURATION, { error: badDuration });

function badDuration(issue: { input?: unknown }): string {
  const { input } = issue;
  const bare = (typeof input === "number" || typeof input === "string") && /^\d+$/.test(String(input));
  const hint = bare ? `say of what: ${input}s, ${input}m or ${input}h` : "write a duration such as 90s, 30m or 1h30m";
  return say("BAD_DURATION", `${show(input)} is not a duration`, hint);
}

function quantityOf(zeroAllowed: boolean) {
  const error = (issue: { input?: unknown }) => badQuantity(issue.input, zeroAllowed);
  const least = zeroAllowed ? 0 : 1;
  const percent = zeroAllowed ? /^(100|\d{1,2})%$/ : /^(100|[1-9]\d?)%$/;
  return z.union([z.int({ error }).min(least, { error }), z.string({ error }).regex(percent, { error })], { error });
}

/** A count of at least 1, or a percentage from 1% to 100%. */
export const quantity = quantityOf(false);
/** A count, or a percentage, both from 0. */
export const budget = quantityOf(true);

function badQuantity(input: unknown, zeroAllowed: boolean): string {
  const hint = 'write a count such as 2, or a percentage such as "25%"';
  const least = zeroAllowed ? "0" : "1";
  if (typeof input === "number" && !Number.isInteger(input)) return say("BAD_QUANTITY", `${show(input)} is not a whole number`, hint);
  if (typeof input === "number") return say("BAD_QUANTITY", `${show(input)} is less than ${least}`, hint);
  if (typeof input !== "string") return say("BAD_QUANTITY", `${show(input)} is neither a count nor a percentage`, hint);
  const amount = /^(-?\d+(?:\.\d+)?)\s*%$/.exec(input)?.[1];
  if (amount !== undefined && Number(amount) > 100)
    return say("BAD_QUANTITY", `${show(input)} is more than 100%`, "write 100% for all of them");
  if (amount !== undefined && !Number.isInteger(Number(amount)))
    return say("BAD_QUANTITY", `${show(input)} is not a whole percentage`, hint);
  if (amount !== undefined) return say("BAD_QUANTITY", `${show(input)} is less than ${least}%`, hint);
  if (/^-?\d+$/.test(input) && Number(input) >= Number(least)) {
    const percentage = Number(input) <= 100 ? `, or ${input}%` : "";
    return say("BAD_QUANTITY", `${show(input)} is text, not a count`, `write ${input} without quotes${percentage}`);
  }
  if (/^-?\d+$/.test(input)) return say("BAD_QUANTITY", `${show(input)} is less than ${least}`, hint);
  return say("BAD_QUANTITY", `${show(input)} is neither a count nor a percentage`, hint);
}

export const OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist"] as const;

function labelValue(issue: { input?: unknown }): string {
  return say("WRONG_TYPE", `a label's value is text, not ${show(issue.input)}`, `put it in quotes: ${JSON.stringify(String(issue.input))}`);
}

const labelText = z.string({ error: labelValue });

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
  error: (issue) =>
    typeof issue.input === "number" || typeof issue.input === "boolean"
      ? say("WRONG_TYPE", `expected text, not ${show(issue.input)}`, `put it in quotes: ${JSON.stringify(String(issue.input))}`)
      : undefined,
});

/** A team is named as in its address: `github.com/orgs/ORG/teams/SLUG`. */
const SLUG = /^[A-Za-z0-9][\w.-]{0,99}$/;

export const team = text.regex(SLUG, {
  error: ({ input }) => say("BAD_VALUE", `${show(input)} is no team's slug`, `write the slug alone, such as ${slugLike(String(input))}`),
});

/** As GitHub makes a slug of a team's name. */
function slugLike(written: string): string {
  const last = written.split("/").at(-1) ?? "";
  const made = last
    .slice(0, 200)
    .toLowerCase()
    .replace(/[^a-z0-9_.-]+/g, "-")
    .replace(/^[^a-z0-9]+|-+$/g, "");
  return SLUG.test(last) ? last : SLUG.test(made) ? made : "sre";
}
