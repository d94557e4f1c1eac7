import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { COMMANDS } from "../src/core/spec/commands.ts";
import { repoConfigSchema } from "../src/core/spec/repo-config.ts";
import { resourceSchema } from "../src/core/spec/schema.ts";
import type { Proof } from "./fields/proof.ts";
import { ALIKE, ROLLOUT_FIELDS } from "./fields/rollout.ts";
import { COMMAND_PROOFS, SETTINGS_FIELDS } from "./fields/settings.ts";

const ROOT = new URL("../", import.meta.url).pathname;
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

interface JsonSchema {
  description?: string;
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
}

interface Field {
  path: string;
  description: string;
  /** Holds other fields: proven by them. */
  holds: boolean;
}

/** Every field below a schema, by its path: `spec.stages[].bake`. */
function fieldsOf(schema: JsonSchema, path = ""): Field[] {
  const found = new Map<string, Field>();
  const add = (fields: Field[]) => {
    for (const field of fields) if (!found.has(field.path)) found.set(field.path, field);
  };
  for (const branch of schema.anyOf ?? []) add(fieldsOf(branch, path));
  if (schema.items !== undefined) add(fieldsOf(schema.items, `${path}[]`));
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    const at = path === "" ? name : `${path}.${name}`;
    const description = inner.description ?? "";
    const below = fieldsOf(inner, at);
    add([{ path: at, description, holds: below.length > 0 }, ...below]);
  }
  return [...found.values()];
}

const fieldsIn = (schema: z.ZodType) => fieldsOf(z.toJSONSchema(schema, { io: "input" }) as JsonSchema);
const RESOURCE = fieldsIn(resourceSchema);
const SETTINGS = fieldsIn(repoConfigSchema);

/** Where a field is proven: at the same field of the same schema where that stands elsewhere, too. */
function proofPath(path: string): string {
  const alike = Object.entries(ALIKE).find(([from]) => path.startsWith(`${from}.`));
  return alike === undefined ? path.replace(/^commands\.\w+/, "commands.*") : alike[1] + path.slice(alike[0].length);
}

/** Paths that a document uses. */
function pathsIn(value: unknown, path = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => pathsIn(item, `${path}[]`));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    const at = path === "" ? key : `${path}.${key}`;
    return [at, ...pathsIn(item, at)];
  });
}

function usedIn(pattern: string): Set<string> {
  const documents = globSync(pattern, { cwd: ROOT }).flatMap((file) => parseAllDocuments(read(file), { merge: true }));
  return new Set(documents.flatMap((document) => pathsIn(document.toJS()).map(proofPath)));
}

function cut(place: string): [file: string, text: string] {
  const [file = "", ...text] = place.split(" › ");
  return [`${file}.test.ts`, text.join(" › ")];
}

/** The test, what it imports from the tests' own files, and the sample: what it can name a field in. */
function withSupport(file: string): string {
  const text = read(file);
  const imported = [...text.matchAll(/from "(\.[^"]*\/(?:support|testing)\/[^"]*)"/g)].map(([, path = ""]) => join(dirname(file), path));
  const sample = file.startsWith("test/e2e/") ? [read("fixtures/fleet/rollouts/my-app.yaml")] : [];
  return [text, ...imported.map(read), ...sample].join("\n");
}

/** What is wrong with a proof: a file or title that is not there, or a test that never names the thing. */
function faults(name: string, proof: Proof): string[] {
  const found: string[] = [];
  for (const kind of ["pure", "world"] as const) {
    const [file, title] = cut(proof[kind]);
    if (!existsSync(join(ROOT, file))) found.push(`${name}: ${kind} ${file} is not there`);
    else if (!read(file).includes(`"${title}`)) found.push(`${name}: ${file} has no test "${title}`);
    else if (!names(kind === "pure" && title.startsWith("accepts %s") ? "" : name, withSupport(file)))
      found.push(`${name}: ${file} never names it`);
  }
  if (!/^test\/(e2e|attacks)\//.test(proof.world)) found.push(`${name}: ${proof.world} is no scenario`);
  const [report, text] = cut(proof.report);
  if (!existsSync(join(ROOT, report)) || text === "" || !read(report).replaceAll("\\`", "`").includes(text))
    found.push(`${name}: ${report} does not expect "${text}"`);
  return found;
}

function names(name: string, text: string): boolean {
  const last = name.split(/\.|--|\[\]/).at(-1) ?? "";
  return new RegExp(`(?<!\\w|\\w-)${last}(?![\\w-])`).test(text);
}

describe.each([
  ["rollouts/*.yaml", RESOURCE, ROLLOUT_FIELDS, "rollouts/*.yaml", "docs/reference/progressive-rollout.md", "spec."],
  [".github/stagecoach.yaml", SETTINGS, SETTINGS_FIELDS, "rollouts/.github/stagecoach.yaml", "docs/reference/repo-configuration.md", ""],
] as const)("every field of %s", (_file, all, table, examples, page, under) => {
  // A selector of the settings is as those of the resource.
  const own = all.filter(({ path }) => !path.startsWith("rollouts.") && (under !== "" || !path.includes(".selector.")));

  test("has a description, in the schema and on its page", () => {
    const text = read(page);
    expect(own.length).toBeGreaterThan(20);
    expect(own.filter(({ description }) => description.trim() === "").map(({ path }) => path)).toEqual([]);
    const ofWindows = read("docs/reference/progressive-rollout.md");
    const row = ({ path, description }: Field) => {
      if (/^commands\.\w+$/.test(path)) return text.includes(`\`${path.slice("commands.".length)}\``);
      const name = path.split(".").at(-1)?.replaceAll("[]", "") ?? "";
      // A freeze is a window, whose keys stand on one page.
      const on = path.startsWith("freezes[].") ? `${ofWindows}\n${text}` : text;
      return on.split("\n").some((line) => line.startsWith(`| \`${name}\` |`) && line.includes(description.replaceAll("|", "\\|")));
    };
    expect(own.filter((field) => !row(field)).map(({ path }) => path)).toEqual([]);
    expect(under === "" || text.includes("`spec.stages[]`")).toBe(true);
  });

  test("is in an example", () => {
    const used = usedIn(examples);
    expect(own.filter(({ path }) => !used.has(proofPath(path))).map(({ path }) => path)).toEqual([]);
  });

  test("has a pure test, a scenario and its line in a report, and what is listed is a field", () => {
    const wanted = own.filter(({ holds }) => !holds).map(({ path }) => proofPath(path));
    const both = own.filter(({ holds }) => holds).map(({ path }) => path);
    expect(wanted.filter((path) => !table.has(path))).toEqual([]);
    expect([...table.keys()].filter((path) => !wanted.includes(path) && !both.includes(path))).toEqual([]);
    expect([...table].flatMap(([name, proof]) => faults(name, proof))).toEqual([]);
  });
});

describe("every command", () => {
  test("has a description on its page, a pure test, a scenario and its line in a report, with each of its flags", () => {
    const page = read("docs/reference/commands.md");
    const wanted = COMMANDS.flatMap(({ name, flags }) => [name, ...flags.map((flag) => `${name}--${flag.name}`)]);
    expect([...COMMAND_PROOFS.keys()].sort()).toEqual(wanted.sort());
    for (const { summary, usage, examples } of COMMANDS) {
      expect([summary.length > 10, examples.length > 0]).toEqual([true, true]);
      expect(page).toContain(usage.split(" ")[0]);
    }
    expect([...COMMAND_PROOFS].flatMap(([name, proof]) => faults(name, proof))).toEqual([]);
  });
});
