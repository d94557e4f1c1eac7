import type { IncomingMessage, ServerResponse } from "node:http";
import { bodyWithin } from "../../listen.ts";

const HTTP_OF: Record<number, number> = { 3: 400, 4: 504, 5: 404, 7: 403, 9: 400, 12: 501, 13: 500, 14: 503, 16: 401 };

/** A refusal as Argo CD's gateway tells it: a gRPC code, and the HTTP status that goes with it. */
export class GrpcError extends Error {
  override name = "GrpcError";
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** 3 invalid, 5 not found, 7 not permitted, 12 not implemented, 16 not authenticated. */
export function grpcError(code: number, message: string): GrpcError {
  return new GrpcError(code, message);
}

export function send(response: ServerResponse, status: number, body: unknown): void {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) }).end(text);
}

export function sendError(response: ServerResponse, error: unknown): void {
  const { code, message } = error instanceof GrpcError ? error : new GrpcError(13, String(error));
  if (response.headersSent) response.destroy();
  else send(response, HTTP_OF[code] ?? 500, { error: message, code, message });
}

const MOST_BODY = 4 << 20;

/** The body of a POST. Argo CD takes JSON alone, said to be JSON. */
export async function jsonBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  if (!(request.headers["content-type"] ?? "").startsWith("application/json")) throw grpcError(3, "Invalid content type");
  const body = await bodyWithin(request, MOST_BODY);
  if (body === undefined) throw grpcError(3, "the body is too large");
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Falls through to the refusal.
  }
  throw grpcError(3, "the body is no JSON object");
}
