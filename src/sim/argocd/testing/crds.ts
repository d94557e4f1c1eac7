import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Ajv, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import { parse } from "yaml";
import { CRD_SLICES, type Schema } from "./crd-slices.ts";

const SHARED = fileURLToPath(new URL("../../../../../shared/data/", import.meta.url));

/** Where each CRD lies beside the checkout. */
const FILES: Readonly<Record<string, string>> = {
  Application: "argocd/manifests/crds/application-crd.yaml",
  ApplicationSet: "argocd/manifests/crds/applicationset-crd.yaml",
  AppProject: "argocd/manifests/crds/appproject-crd.yaml",
  Rollout: "argo-rollouts/manifests/crds/rollout-crd.yaml",
};

export const crdsPresent = Object.values(FILES).every((file) => existsSync(`${SHARED}${file}`));

interface Crd {
  spec: { versions: { schema: { openAPIV3Schema: Schema } }[] };
}

/** The schema of a kind as its project ships it. */
export function crdSchema(kind: string): Schema {
  const crd = parse(readFileSync(`${SHARED}${FILES[kind]}`, "utf8")) as Crd;
  return crd.spec.versions[0]?.schema.openAPIV3Schema ?? {};
}

/** The API server prunes what a schema does not name: here it is an error, since a real object never has it. */
function strict(schema: unknown, root = true): unknown {
  if (Array.isArray(schema)) return schema.map((item) => strict(item, false));
  if (typeof schema !== "object" || schema === null) return schema;
  const copy: Schema = {};
  for (const [key, value] of Object.entries(schema)) copy[key] = strict(value, false);
  const open = root || copy["x-kubernetes-preserve-unknown-fields"] === true || copy["additionalProperties"] !== undefined;
  if (!open && copy["type"] === "object" && copy["properties"] !== undefined) copy["additionalProperties"] = false;
  return copy;
}

function compile(schema: object): ValidateFunction {
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  return ajv.compile(schema);
}

export function crdValidator(kind: string): ValidateFunction {
  return compile(strict(crdSchema(kind)) as object);
}

export function sliceValidator(kind: string): ValidateFunction {
  return compile(CRD_SLICES[kind] ?? {});
}

/** Where a slice says something else than the CRD; empty: nowhere. Fields that only the CRD has are left out on purpose. */
export function disagreements(slice: Schema, crd: Schema | undefined, at: string): string[] {
  if (crd === undefined) return [`${at}: the CRD has no such field`];
  const found: string[] = [];
  const both = (key: string) => [slice[key], crd[key]].map((value) => JSON.stringify(value));
  for (const key of ["type", "format", "enum"]) {
    const [mine, theirs] = both(key);
    if (mine !== undefined && mine !== theirs) found.push(`${at}: ${key} is ${theirs} in the CRD, ${mine} here`);
  }
  if (slice["items"] !== undefined) found.push(...disagreements(slice["items"] as Schema, crd["items"] as Schema | undefined, `${at}[]`));
  const properties = slice["properties"] as Record<string, Schema> | undefined;
  if (properties === undefined) return found;
  const [mine, theirs] = ["required"].flatMap(() =>
    [slice, crd].map((one) => JSON.stringify([...((one["required"] as string[]) ?? [])].sort())),
  );
  if (mine !== theirs) found.push(`${at}: required are ${theirs} in the CRD, ${mine} here`);
  for (const [name, inner] of Object.entries(properties)) {
    found.push(...disagreements(inner, (crd["properties"] as Record<string, Schema> | undefined)?.[name], `${at}.${name}`));
  }
  return found;
}
