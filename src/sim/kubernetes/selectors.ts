import { badRequest } from "./api-error.ts";
import type { KubeObject } from "./types.ts";

export type Matcher = (object: KubeObject) => boolean;

/** Commas inside the parentheses of a set do not separate requirements. */
function requirements(selector: string): string[] {
  return selector
    .split(/,(?![^(]*\))/)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function setRequirement(part: string): Matcher | undefined {
  const match = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/.exec(part);
  if (match === null) return undefined;
  const [, key = "", operator, list = ""] = match;
  const values = new Set(list.split(",").map((value) => value.trim()));
  return (object) => {
    const value = object.metadata.labels?.[key];
    const inside = value !== undefined && values.has(value);
    return operator === "in" ? inside : !inside;
  };
}

function labelRequirement(part: string): Matcher {
  const set = setRequirement(part);
  if (set !== undefined) return set;
  const equality = /^([^\s=!]+)\s*(==|=|!=)\s*([^\s=!]*)$/.exec(part);
  if (equality !== null) {
    const [, key = "", operator, value] = equality;
    return (object) => (object.metadata.labels?.[key] === value) === (operator !== "!=");
  }
  const existence = /^(!?)\s*([A-Za-z0-9][-A-Za-z0-9_./]*)$/.exec(part);
  if (existence === null) throw badRequest(`unable to parse requirement: "${part}"`);
  const [, not, key = ""] = existence;
  return (object) => (object.metadata.labels?.[key] !== undefined) === (not === "");
}

/** `a=b,c!=d,e in (f,g),h notin (i),j,!k`; throws ApiError 400 where it is none. */
export function labelSelector(selector: string): Matcher {
  const all = requirements(selector).map(labelRequirement);
  return (object) => all.every((matches) => matches(object));
}

/** Only what every kind supports: `metadata.name` and `metadata.namespace`, with `=`, `==` and `!=`. */
export function fieldSelector(selector: string): Matcher {
  const all = requirements(selector).map((part): Matcher => {
    const match = /^([^=!]+?)(==|=|!=)(.*)$/.exec(part);
    const [, field, operator, value] = match ?? [];
    if (field !== "metadata.name" && field !== "metadata.namespace") throw badRequest(`field label not supported: ${field ?? part}`);
    return (object) => {
      const seen = field === "metadata.name" ? object.metadata.name : (object.metadata.namespace ?? "");
      return (seen === value) === (operator !== "!=");
    };
  });
  return (object) => all.every((matches) => matches(object));
}
