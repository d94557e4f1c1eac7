/** How the API answers: JSON with an ETag, or a problem as RFC 9457 has it. Every header that keeps a browser from more stands here. */
import type { Context } from "hono";
import { z } from "zod";
import type { Written } from "./live-models.ts";

export const JSON_HEADERS = {
  // Nobody between keeps what one person sees, nor the cookie that comes with it.
  "Cache-Control": "private, no-cache",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

const PROBLEMS = {
  BAD_REQUEST: { status: 400, title: "The request is not one of this API" },
  UNAUTHENTICATED: { status: 401, title: "GitHub does not take this token, or none was given" },
  FORBIDDEN: { status: 403, title: "You may not do that" },
  NOT_FOUND: { status: 404, title: "There is nothing here that you may see" },
  METHOD_NOT_ALLOWED: { status: 405, title: "This is only read" },
  MOVED: { status: 409, title: "What you saw has moved since" },
  REFUSED: { status: 409, title: "It would be refused now" },
  TOO_LARGE: { status: 413, title: "The request is too large" },
  NOT_JSON: { status: 415, title: "Only application/json is taken" },
  TOO_MANY_REQUESTS: { status: 429, title: "Too many requests; slow down" },
  UNREADABLE: { status: 500, title: "The journal of this cannot be read" },
  FAULT: { status: 500, title: "The server failed on this" },
  UNAVAILABLE: { status: 503, title: "Not now; try again soon" },
} as const;

export type ProblemCode = keyof typeof PROBLEMS;

export const problemSchema = z
  .object({
    type: z.literal("about:blank"),
    title: z.string(),
    status: z.int(),
    code: z.enum(Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]]).describe("What programs tell it by."),
    detail: z.string().optional(),
  })
  .meta({ id: "Problem" });

/** The body of a problem. */
export function problemText(code: ProblemCode, detail?: string): string {
  const { status, title } = PROBLEMS[code];
  const body: z.input<typeof problemSchema> = { type: "about:blank", title, status, code, ...(detail !== undefined && { detail }) };
  return JSON.stringify(body);
}

export function problem(context: Context, code: ProblemCode, detail?: string): Response {
  if (code === "METHOD_NOT_ALLOWED") context.header("Allow", "GET, HEAD");
  if (code === "UNAUTHENTICATED") context.header("WWW-Authenticate", "Bearer");
  if (code === "UNAVAILABLE" || code === "TOO_MANY_REQUESTS") context.header("Retry-After", "5");
  return context.body(problemText(code, detail), PROBLEMS[code].status, { "Content-Type": "application/problem+json" });
}

export function answer(context: Context, { text, etag }: Written, type = "application/json"): Response {
  context.header("ETag", etag);
  const known = context.req.header("If-None-Match")?.split(",").slice(0, 20) ?? [];
  if (known.some((one) => one.trim().replace(/^W\//, "") === etag)) return context.body(null, 304);
  return context.body(text, 200, { "Content-Type": type });
}
