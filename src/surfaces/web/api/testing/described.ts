import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { openApiDocument } from "../openapi.ts";

interface Described {
  paths: Record<string, Record<string, { responses: Record<string, { content?: Record<string, unknown> }> }>>;
}

const document = openApiDocument() as Described;
const checks = new Map<string, ValidateFunction>();
const ajv = new Ajv2020({ strict: false }).addSchema(document, "api");

/** What of an answer is not as the API's description has it; undefined: all is. */
export async function undescribed(address: string, response: Response): Promise<string | undefined> {
  const path = address.split("?")[0]?.replace(/^\/api\/v1/, "") ?? "";
  const type = (response.headers.get("Content-Type") ?? "").split(";")[0] ?? "";
  if (path === "/openapi.json" || response.status === 304) return undefined;
  const shape = Object.keys(document.paths).find((one) => new RegExp(`^${one.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(path));
  if (shape === undefined) return response.status < 400 ? `${path} is not described` : undefined;
  const [method = "get"] = Object.keys(document.paths[shape] ?? {});
  const outcome = response.status < 300 ? String(response.status) : "default";
  const content = document.paths[shape]?.[method]?.responses[outcome]?.content ?? {};
  if (content[type] === undefined) return `${shape} does not say that it answers ${response.status} with ${type}`;
  if (!type.endsWith("json")) return undefined;
  const pointer = ["paths", shape, method, "responses", outcome, "content", type, "schema"];
  const ref = `api#/${pointer.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/")}`;
  const check = checks.get(ref) ?? ajv.compile({ $ref: ref });
  checks.set(ref, check);
  return check(await response.clone().json()) ? undefined : `${shape}: ${ajv.errorsText(check.errors)}`;
}
