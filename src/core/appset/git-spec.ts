import { isRecord } from "../base/is-record.ts";
import { failure } from "./problem.ts";

/** An entry of `directories` or `files`. */
export interface PathPattern {
  path: string;
  exclude: boolean;
}

export function patterns(raw: unknown, where: string): PathPattern[] {
  if (raw === undefined || raw === null) return [];
  if (!Array.isArray(raw)) throw failure("INVALID", where, "not a list", "write a list of {path: …}");
  return raw.map((item, index) => {
    const path = isRecord(item) ? item["path"] : undefined;
    if (typeof path !== "string") throw failure("INVALID", `${where}[${index}].path`, "the path is missing or not text", "write - path: …");
    return { path, exclude: isRecord(item) && item["exclude"] === true };
  });
}

/** What the path parameters are named below: `PREFIX.path`. */
export function pathPrefix(raw: Record<string, unknown>): string {
  return typeof raw["pathParamPrefix"] === "string" ? raw["pathParamPrefix"] : "";
}
