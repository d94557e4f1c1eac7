/** An answer that is not a success, in the shape GitHub gives it. */
export class ApiFailure extends Error {
  override name = "ApiFailure";
  readonly status: number;
  readonly errors: readonly (FieldError | string)[] | undefined;
  readonly headers: Record<string, string>;
  /** What else the body has. */
  readonly more: Readonly<Record<string, unknown>>;
  constructor(
    status: number,
    message: string,
    errors?: readonly (FieldError | string)[],
    headers: Record<string, string> = {},
    more: Record<string, unknown> = {},
  ) {
    super(message);
    this.more = more;
    this.status = status;
    this.errors = errors;
    this.headers = headers;
  }
}

interface FieldError {
  resource: string;
  field?: string;
  code: string;
  message?: string;
  /** Only of a deployment's. */
  contexts?: { context: string; state: string }[];
}

export function notFound(): ApiFailure {
  return new ApiFailure(404, "Not Found");
}

export function invalid(...errors: FieldError[]): ApiFailure {
  return new ApiFailure(422, "Validation Failed", errors);
}

/** 422 without a list of fields, as the Git data routes answer. */
export function refused(message: string): ApiFailure {
  return new ApiFailure(422, message);
}

export function forbidden(message = "Resource not accessible by integration"): ApiFailure {
  return new ApiFailure(403, message);
}
