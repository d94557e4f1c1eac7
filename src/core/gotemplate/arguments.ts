import type { Expr } from "./ast.ts";
import type { ParamType } from "./functions.ts";
import { GoInt, type GoValue, isMap, isStringMap, TemplateError, typeName } from "./value.ts";

const GO_NAMES: Record<ParamType, string> = {
  any: "interface {}",
  raw: "reflect.Value",
  string: "string",
  int: "int",
  float: "float64",
  bool: "bool",
  map: "map[string]interface {}",
};

/** Go refuses a value of another type rather than convert it, between its integer types too. */
export function checkType(value: GoValue, type: ParamType): GoValue {
  if (type === "raw") return value;
  if (type === "any") return value ?? null;
  if (value === undefined && type === "map") return null;
  if (value === null && type === "map") throw new TemplateError(`wrong type for value; expected ${GO_NAMES[type]}; got interface {}`);
  if (value === undefined || value === null) {
    throw new TemplateError(`invalid value; expected ${GO_NAMES[type]}`);
  }
  if (fits(value, type)) return value;
  throw new TemplateError(`wrong type for value; expected ${GO_NAMES[type]}; got ${typeName(value)}`);
}

function fits(value: GoValue, type: ParamType): boolean {
  switch (type) {
    case "string":
      return typeof value === "string";
    case "int":
      return value instanceof GoInt && value.kind === "int";
    case "float":
      return typeof value === "number";
    case "bool":
      return typeof value === "boolean";
    default:
      return isMap(value) && !isStringMap(value);
  }
}

type Constant = Extract<Expr, { type: "bool" | "string" | "number" | "nil" }>;

/** A literal takes the type the parameter asks for: `1` is a float where a float is wanted. */
export function constant(expr: Constant, type: ParamType = "any"): GoValue {
  if (expr.type === "nil") {
    if (type === "any" || type === "map" || type === "raw") return null;
    throw new TemplateError(`cannot assign nil to ${GO_NAMES[type]}`);
  }
  const given = expr.type === "number" ? "number" : expr.type;
  const wanted = type === "int" || type === "float" ? "number" : type;
  if (wanted !== "any" && wanted !== "raw" && wanted !== given) {
    throw new TemplateError(`expected ${GO_NAMES[type]}; found ${expr.type === "bool" ? String(expr.value) : expr.source}`);
  }
  if (expr.type !== "number") return expr.value;
  return numeric(expr, type);
}

function numeric(expr: Extract<Expr, { type: "number" }>, type: ParamType): GoValue {
  if (type === "float") return expr.value;
  if (type === "int") {
    if (!Number.isInteger(expr.value)) throw new TemplateError(`expected integer; found ${expr.source}`);
    return new GoInt(expr.value);
  }
  if (!expr.isInt) return expr.value;
  return new GoInt(expr.value, expr.isRune ? "int32" : "int");
}
