import { z } from "zod";
import { show } from "../base/problem.ts";
import { parseDuration } from "../base/time.ts";
import { packReason } from "../reasons/problems/problem.ts";

/** `{{args.NAME}}` in a text of a metric. */
export const ARGUMENT = /\{\{\s*args\.([\w.-]+?)\s*\}\}/g;

/** Go's durations (`90s`, `1h30m`); a bare number is seconds, as in the examples people copy. Milliseconds. */
const duration = z.union([z.int(), z.string()], { error: badDuration }).transform((given, context) => {
  const ms = typeof given === "number" || /^\d+$/.test(given) ? Number(given) * 1000 : parseDuration(given);
  if (ms !== undefined && ms >= 0) return ms;
  context.addIssue({ code: "custom", message: badDuration({ input: given }) });
  return z.NEVER;
});

function badDuration({ input }: { input?: unknown }): string {
  return packReason({ code: "BAD_DURATION", kind: "Text", given: show(input) });
}

/** A number, or a text that is one, or a template of one: Kubernetes' int-or-string, rendered before it is used. */
const intOrString = z.union([z.int(), z.string().max(200)]);
const text = z.string().max(10_000);
const header = z.strictObject({ key: text, value: text });

const basicAuth = z.strictObject({ username: text.optional(), password: text.optional() });
const oauth2 = z.strictObject({
  tokenUrl: text.optional(),
  clientId: text.optional(),
  clientSecret: text.optional(),
  scopes: z.array(text).max(50).optional(),
});
/** `sigv4` is known, and needs the argo-rollouts engine. */
const authentication = z.strictObject({
  basicAuth: basicAuth.optional(),
  oauth2: oauth2.optional(),
  sigv4: z.record(z.string(), z.unknown()).optional(),
});

export const webSchema = z.strictObject({
  url: text,
  method: z.enum(["GET", "POST", "PUT"]).optional(),
  headers: z.array(header).max(50).optional(),
  body: text.optional(),
  jsonBody: z.unknown().optional(),
  jsonPath: text.optional(),
  timeoutSeconds: intOrString.optional(),
  insecure: z.boolean().optional(),
  authentication: authentication.optional(),
});

const prometheusSchema = z.strictObject({
  address: text.optional(),
  query: text.optional(),
  timeout: z.int().min(1).max(600).optional(),
  insecure: z.boolean().optional(),
  headers: z.array(header).max(50).optional(),
  authentication: authentication.optional(),
  rangeQuery: z.strictObject({ start: text.optional(), end: text.optional(), step: text.optional() }).optional(),
});

export const jobSchema = z.strictObject({
  metadata: z.record(z.string(), z.unknown()).optional(),
  spec: z.record(z.string(), z.unknown()),
});

/** The builtin engine measures with these; any other needs the argo-rollouts engine. */
export const BUILTIN_PROVIDERS = ["web", "prometheus", "job"] as const;

const providerSchema = z
  .looseObject({ web: webSchema.optional(), prometheus: prometheusSchema.optional(), job: jobSchema.optional() })
  .refine((provider) => Object.keys(provider).length === 1, { error: packReason({ code: "BAD_VALUE", kind: "OneProvider" }) });

const metricSchema = z.strictObject({
  name: z.string().min(1).max(200),
  interval: duration.optional(),
  initialDelay: duration.optional(),
  count: intOrString.optional(),
  successCondition: text.optional(),
  failureCondition: text.optional(),
  failureLimit: intOrString.optional(),
  inconclusiveLimit: intOrString.optional(),
  consecutiveErrorLimit: intOrString.optional(),
  consecutiveSuccessLimit: intOrString.optional(),
  provider: providerSchema,
});

const argumentSchema = z.strictObject({
  name: z.string().min(1).max(200),
  value: z.string().max(10_000).optional(),
  valueFrom: z
    .strictObject({
      secretKeyRef: z.strictObject({ name: text, key: text }).optional(),
      fieldRef: z.strictObject({ fieldPath: text }).optional(),
    })
    .optional(),
});

/** Argo Rollouts' own resource, as https://argo-rollouts.readthedocs.io/en/stable/features/analysis/ has it. */
export const templateSchema = z.strictObject({
  apiVersion: z.literal("argoproj.io/v1alpha1"),
  kind: z.enum(["AnalysisTemplate", "ClusterAnalysisTemplate"]),
  metadata: z.looseObject({ name: z.string().min(1).max(253) }),
  spec: z.strictObject({
    args: z.array(argumentSchema).max(100).optional(),
    metrics: z.array(metricSchema).max(100).optional(),
    templates: z
      .array(z.strictObject({ templateName: text, clusterScope: z.boolean().optional() }))
      .max(50)
      .optional(),
    dryRun: z
      .array(z.strictObject({ metricName: text }))
      .max(100)
      .optional(),
    measurementRetention: z
      .array(z.strictObject({ metricName: text, limit: z.int().min(0).max(1000) }))
      .max(100)
      .optional(),
  }),
});

export type AnalysisTemplate = z.output<typeof templateSchema>;
export type TemplateMetric = z.output<typeof metricSchema>;
export type TemplateArgument = z.output<typeof argumentSchema>;
