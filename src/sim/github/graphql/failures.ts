import type { GraphQLError } from "graphql";
import { defined } from "../../../core/base/defined.ts";
import { ApiFailure } from "../http/failure.ts";

type FailureType = "NOT_FOUND" | "FORBIDDEN" | "UNPROCESSABLE" | "STALE_DATA" | "RATE_LIMITED" | "INSUFFICIENT_SCOPES" | "VALIDATION";

/** One field's failure, in GitHub's shape: `type` stands beside the message, not in extensions. */
export class FieldFailure extends Error {
  override name = "FieldFailure";
  readonly type: FailureType;
  constructor(type: FailureType, message: string) {
    super(message);
    this.type = type;
  }
}

export function noNode(id: string): FieldFailure {
  return new FieldFailure("NOT_FOUND", `Could not resolve to a node with the global id of '${id}'`);
}

export function noAccess(): FieldFailure {
  return new FieldFailure("FORBIDDEN", "Resource not accessible by integration");
}

/** What the REST half refuses, said as GraphQL says it. */
function asFieldFailure(error: unknown): FieldFailure | undefined {
  if (error instanceof FieldFailure) return error;
  if (!(error instanceof ApiFailure)) return undefined;
  const details = (error.errors ?? []).map((one) => (typeof one === "string" ? one : (one.message ?? "")));
  const message = details.find((text) => text !== "") ?? error.message;
  if (error.status === 404) return new FieldFailure("NOT_FOUND", message);
  if (error.status === 403) return new FieldFailure("FORBIDDEN", message);
  if (error.status === 409) return new FieldFailure("STALE_DATA", message);
  return new FieldFailure("UNPROCESSABLE", message);
}

export interface PrintedError {
  type?: string;
  path?: readonly (string | number)[];
  extensions?: Record<string, unknown>;
  locations?: readonly { line: number; column: number }[];
  message: string;
}

/** An error of one field while the document ran. */
export function printFieldError(error: GraphQLError): PrintedError {
  const failure = asFieldFailure(error.originalError);
  const { path, locations } = error;
  const at = defined({ path, locations });
  if (failure !== undefined) return { type: failure.type, ...at, message: failure.message };
  return { ...at, message: error.message };
}

/** A document that does not fit the schema, in the words of GitHub's server where they are known. */
export function printDocumentError(error: GraphQLError): PrintedError {
  const [, fieldName, typeName] = /^Cannot query field "(\w+)" on type "(\w+)"/.exec(error.message) ?? [];
  const locations = error.locations === undefined ? {} : { locations: error.locations };
  if (fieldName === undefined || typeName === undefined) return { ...locations, message: error.message };
  return {
    path: [],
    extensions: { code: "undefinedField", typeName, fieldName },
    ...locations,
    message: `Field '${fieldName}' doesn't exist on type '${typeName}'`,
  };
}
