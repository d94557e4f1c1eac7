/**
 * Cuts the slice of GitHub's GraphQL schema that the embedded GitHub serves, from @octokit/graphql-schema. By hand:
 * `node test/schemas/cut-graphql.ts`, after the package or the slice has changed.
 */
import { writeFileSync } from "node:fs";
import { schema } from "@octokit/graphql-schema";
import {
  assertValidSchema,
  buildASTSchema,
  type DefinitionNode,
  type DocumentNode,
  Kind,
  parse,
  print,
  type TypeNode,
  visit,
} from "graphql";
import { GRAPHQL_SLICE } from "./graphql-slice.ts";

const TARGET = new URL("../../src/sim/github/graphql/schema.generated.json", import.meta.url);

function typeName(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : typeName(type.type);
}

/** The definition with only what the slice names; undefined: it is not in it. */
function narrowed(definition: DefinitionNode): DefinitionNode | undefined {
  if (definition.kind === Kind.UNION_TYPE_DEFINITION) {
    if (GRAPHQL_SLICE[definition.name.value] === undefined) return undefined;
    return { ...definition, types: (definition.types ?? []).filter((one) => GRAPHQL_SLICE[one.name.value] !== undefined) };
  }
  if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION && definition.kind !== Kind.INTERFACE_TYPE_DEFINITION) return undefined;
  const kept = GRAPHQL_SLICE[definition.name.value]?.split(/\s+/).filter((name) => name !== "");
  if (kept === undefined) return undefined;
  const fields = (definition.fields ?? []).filter((field) => kept.includes(field.name.value));
  const missing = kept.filter((name) => !fields.some((field) => field.name.value === name));
  if (missing.length > 0) throw new Error(`GitHub's ${definition.name.value} has no ${missing.join(", ")}`);
  const interfaces = (definition.interfaces ?? []).filter((one) => GRAPHQL_SLICE[one.name.value] !== undefined);
  return { ...definition, fields, interfaces };
}

/** Inputs, enums and scalars that the kept definitions name, and those that these name. */
function reached(all: ReadonlyMap<string, DefinitionNode>, start: readonly DefinitionNode[]): DefinitionNode[] {
  const found = new Map<string, DefinitionNode>();
  const queue = [...start];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    visit(next, {
      NamedType(node) {
        const definition = all.get(node.name.value);
        if (definition === undefined || found.has(node.name.value)) return;
        const whole: string[] = [Kind.INPUT_OBJECT_TYPE_DEFINITION, Kind.ENUM_TYPE_DEFINITION, Kind.SCALAR_TYPE_DEFINITION];
        if (!whole.includes(definition.kind)) return;
        found.set(node.name.value, definition);
        queue.push(definition);
      },
    });
  }
  return [...found.values()];
}

/** Descriptions and GitHub's own directives go. */
function bare(document: DocumentNode): DocumentNode {
  return visit(document, {
    enter(node) {
      if ("description" in node) return { ...node, description: undefined };
      return undefined;
    },
    Directive: (node) => (node.name.value === "deprecated" || node.name.value === "oneOf" ? undefined : null),
  });
}

function cut(): string {
  const whole = parse(schema.idl, { noLocation: true });
  const all = new Map<string, DefinitionNode>();
  for (const definition of whole.definitions) if ("name" in definition && definition.name) all.set(definition.name.value, definition);
  const unknown = Object.keys(GRAPHQL_SLICE).filter((name) => !all.has(name));
  if (unknown.length > 0) throw new Error(`GitHub has no type ${unknown.join(", ")}`);
  const kept = whole.definitions.map(narrowed).filter((one) => one !== undefined);
  for (const definition of kept) {
    if (!("fields" in definition)) continue;
    for (const field of definition.fields ?? []) {
      const type = all.get(typeName(field.type as TypeNode));
      const object =
        type?.kind === Kind.OBJECT_TYPE_DEFINITION ||
        type?.kind === Kind.INTERFACE_TYPE_DEFINITION ||
        type?.kind === Kind.UNION_TYPE_DEFINITION;
      if (object && GRAPHQL_SLICE[typeName(field.type as TypeNode)] === undefined)
        throw new Error(
          `${"name" in definition ? definition.name?.value : ""}.${field.name.value} needs ${typeName(field.type as TypeNode)}`,
        );
    }
  }
  const document = bare({ kind: Kind.DOCUMENT, definitions: [...kept, ...reached(all, kept)] });
  assertValidSchema(buildASTSchema(document));
  return print(document).replace(/\n\n+/g, "\n").replace(/^ +/gm, " ");
}

writeFileSync(TARGET, `${JSON.stringify({ sdl: cut() })}\n`);
