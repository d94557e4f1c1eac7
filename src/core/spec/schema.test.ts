import { globSync, readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { generated } from "../../../test/generate.ts";
import { parseRollouts } from "./parse/parse.ts";

const ROOT = new URL("../../../", import.meta.url);

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), "utf8");
}

const all = generated();
const schemaText = all.get("schema/progressive-rollout.schema.json") ?? "";
const EXAMPLES = [...globSync("rollouts/*.yaml", { cwd: ROOT.pathname }), "fixtures/fleet/rollouts/my-app.yaml"];

describe("what is generated", () => {
  test.each([...all.keys()])("%s is committed as it would be written now (npm run generate)", (path) => {
    expect(read(path)).toBe(all.get(path));
  });

  test("every key of the JSON Schema has a description", () => {
    const bare: string[] = [];
    const walk = (schema: unknown, path: string) => {
      if (typeof schema !== "object" || schema === null) return;
      const { properties, description } = schema as { properties?: Record<string, unknown>; description?: string };
      if (/\.[a-zA-Z]+$/.test(path) && description === undefined) bare.push(path);
      for (const [name, property] of Object.entries(properties ?? {})) walk(property, `${path}.${name}`);
      for (const [name, inner] of Object.entries(schema))
        if (name !== "properties" && typeof inner === "object") walk(inner, `${path}[${name}]`);
    };
    walk(JSON.parse(schemaText), "$");
    expect(bare).toEqual([]);
  });
});

describe("the JSON Schema, judged by an editor's validator", () => {
  const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(JSON.parse(schemaText));

  test.each(EXAMPLES)("accepts %s, as the parser does", (path) => {
    for (const document of parseAllDocuments(read(path), { merge: true })) {
      validate(document.toJS());
      expect(validate.errors ?? []).toEqual([]);
    }
    expect(parseRollouts(read(path), path).problems).toEqual([]);
  });

  const base = { apiVersion: "stagecoach.dev/v1alpha1", kind: "ProgressiveRollout", metadata: { name: "a" } };
  const sourceRef = { kind: "ApplicationSet", name: "a" };
  const stage = { name: "s", clusters: { selector: {} } };
  test.each([
    ["an unknown key", { sourceRef, stages: [stage], relase: {} }],
    ["a percentage over 100", { sourceRef, stages: [{ ...stage, maxUnavailable: "101%" }] }],
    ["0", { sourceRef, stages: [{ ...stage, maxClusters: 0 }] }],
    ["a duration without a unit", { sourceRef, stages: [{ ...stage, bake: "10" }] }],
    ["no stages", { sourceRef, stages: [] }],
    [
      "an unknown operator",
      { sourceRef, stages: [{ ...stage, clusters: { selector: { matchExpressions: [{ key: "a", operator: "in" }] } } }] },
    ],
  ])("refuses %s", (_name, spec) => {
    expect(validate({ ...base, spec })).toBe(false);
  });
});
