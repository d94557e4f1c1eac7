import { isRecord } from "../base/is-record.ts";
import { parseYaml } from "../base/yaml-read.ts";
import type { Environment } from "./environment.ts";
import { failure, setKey } from "./problem.ts";
import type { ParamSet } from "./types.ts";

/** `list`: its elements as they are, and those of `elementsYaml` behind them. */
export function listParams(raw: Record<string, unknown>, environment: Environment, where: string): ParamSet[] {
  const elements = raw["elements"] ?? [];
  if (!Array.isArray(elements)) throw failure("INVALID", `${where}.elements`, "elements is no list", "write a list of maps");
  const params = elements.map((element, index) => elementParams(element, environment.templating.go, `${where}.elements[${index}]`));
  return [...params, ...yamlParams(raw["elementsYaml"], `${where}.elementsYaml`)];
}

function elementParams(element: unknown, go: boolean, where: string): ParamSet {
  if (!isRecord(element)) throw failure("INVALID", where, "the element is no map", "write key: value lines");
  if (go) return element;
  const params: ParamSet = {};
  for (const [key, value] of Object.entries(element)) {
    if (key !== "values") setKey(params, key, requireText(value, `${where}.${key}`));
    else if (!isRecord(value))
      throw failure("PARAM_ERROR", `${where}.values`, "values is no map of texts", "write key: value lines below it");
    else for (const [name, text] of Object.entries(value)) params[`values.${name}`] = requireText(text, `${where}.values.${name}`);
  }
  return params;
}

function requireText(value: unknown, where: string): string {
  if (typeof value === "string") return value;
  throw failure(
    "PARAM_ERROR",
    where,
    `${JSON.stringify(value)} is not text, and without goTemplate: true elements hold texts only`,
    "put it in quotes, or set goTemplate: true",
  );
}

function yamlParams(source: unknown, where: string): ParamSet[] {
  if (source === undefined || source === null || source === "") return [];
  if (typeof source !== "string") throw failure("INVALID", where, "elementsYaml is not text", "hold the YAML in a block scalar");
  let parsed: unknown;
  try {
    parsed = parseYaml(source);
  } catch (error) {
    throw failure(
      "PARAM_ERROR",
      where,
      `not YAML: ${error instanceof Error ? error.message : "unknown reason"}`,
      "check what the template yields (toJson is safest)",
    );
  }
  if (parsed === null || parsed === undefined) return [];
  if (!Array.isArray(parsed))
    throw failure("PARAM_ERROR", where, "it does not yield a list of maps", "elementsYaml must be a YAML or JSON list");
  return parsed.map((item, index) => {
    if (item === null) return {};
    if (!isRecord(item)) throw failure("PARAM_ERROR", where, `item ${index} is no map`, "elementsYaml must be a list of maps");
    return item;
  });
}
