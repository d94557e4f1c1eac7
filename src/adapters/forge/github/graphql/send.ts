import { redact } from "../../../../core/base/error-text.ts";
import type { WriteRefusal } from "../../../../core/reasons/attention.ts";
import { ForgeError } from "../../port.ts";
import { refusalIn } from "../errors.ts";
import { askedFor, NEVER_RETRY, type RepoOctokit } from "../octokit.ts";

export interface FieldError {
  /** GitHub's word: `STALE_DATA`, `UNPROCESSABLE`, `FORBIDDEN`, `NOT_FOUND`, … */
  type: string;
  /** Name of the root field it is about. */
  field: string;
  message: string;
}

interface GraphQLAnswer<T> {
  /** Fields that failed are null. */
  data: Partial<T>;
  errors: FieldError[];
}

/**
 * Sends one document, once. Errors of single fields are part of the answer, since the other fields were done; everything
 * else (no answer, 5xx, limits, a document that was refused as a whole) rejects as Octokit does.
 */
export async function sendGraphQL<T>(
  place: RepoOctokit,
  document: string,
  variables: Record<string, unknown>,
  request: { retries: 0; sendBy?: number } = NEVER_RETRY.request,
): Promise<GraphQLAnswer<T>> {
  try {
    const data = await place.octokit.graphql<T>(document, { ...variables, headers: askedFor(place), request });
    return { data, errors: [] };
  } catch (error) {
    const errors = fieldErrors(error);
    const partial = (error as { data?: Partial<T> | null }).data;
    if (errors === undefined || partial == null || errors.some((one) => one.type === "RATE_LIMITED")) throw error;
    return { data: partial, errors };
  }
}

function fieldErrors(error: unknown): FieldError[] | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const { name, errors } = error as { name?: unknown; errors?: unknown };
  if (name !== "GraphqlResponseError" || !Array.isArray(errors)) return undefined;
  return errors.map((one: { type?: unknown; path?: unknown; message?: unknown } | null) => ({
    type: typeof one?.type === "string" ? one.type : "",
    field: Array.isArray(one?.path) ? String(one.path[0] ?? "") : "",
    message: redact(typeof one?.message === "string" ? one.message : "no reason given").slice(0, 2000),
  }));
}

/** The refusal of a field as a ForgeError: `mutation Dequeue: …`. `because`: what was found to stand in the way. */
export function refusedError(document: string, refused: FieldError | undefined, because?: WriteRefusal): ForgeError {
  const said = refused?.message ?? "no reason given";
  const message = `${/(?:query|mutation) \w+/.exec(document)?.[0]}: ${said}`;
  const why = because ?? refusalIn(refused?.type === "FORBIDDEN" ? 403 : 422, said);
  if (refused?.type === "FORBIDDEN" || refused?.type === "INSUFFICIENT_SCOPES")
    return new ForgeError("Forbidden", 403, message, { because: why });
  return refused?.type === "NOT_FOUND"
    ? new ForgeError("NotFound", 404, message)
    : new ForgeError("Invalid", 422, message, { because: why });
}
