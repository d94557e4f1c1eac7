import { defined } from "../../core/base/defined.ts";
/** A refusal of the API, with the Kubernetes `Status` it is answered with. */
export class ApiError extends Error {
  override name = "ApiError";
  readonly code: number;
  readonly reason: string;
  readonly details: Record<string, unknown> | undefined;
  constructor(code: number, reason: string, message: string, details?: Record<string, unknown>) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }
}

interface StatusBody {
  kind: "Status";
  apiVersion: "v1";
  metadata: Record<string, never>;
  status: "Failure";
  message: string;
  reason: string;
  details?: Record<string, unknown>;
  code: number;
}

export function statusBody(error: ApiError): StatusBody {
  return defined({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: error.message,
    reason: error.reason,
    details: error.details,
    code: error.code,
  });
}

export function notFound(resource: string, name: string): ApiError {
  return new ApiError(404, "NotFound", `${resource} "${name}" not found`, { name, kind: resource });
}

export function conflict(resource: string, name: string): ApiError {
  return new ApiError(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${resource} "${name}": the object has been modified; please apply your changes to the latest version and try again`,
    { name, kind: resource },
  );
}

export function badRequest(message: string): ApiError {
  return new ApiError(400, "BadRequest", message);
}

export function gone(asked: number, oldest: number): ApiError {
  return new ApiError(410, "Expired", `too old resource version: ${asked} (${oldest})`);
}
