import { buildSchema, type DocumentNode, execute, GraphQLError, type GraphQLSchema, Kind, parse, validate } from "graphql";
import { defined } from "../../../core/base/defined.ts";
import { ApiFailure } from "../http/failure.ts";
import type { Actor, World } from "../model/model.ts";
import type { Context } from "./context.ts";
import { type PrintedError, printDocumentError, printFieldError } from "./failures.ts";
import { GIT_MUTATIONS } from "./mutations/git.ts";
import { ISSUE_MUTATIONS } from "./mutations/issues.ts";
import { PULL_MUTATIONS } from "./mutations/pulls.ts";
import { printNode, queryRoot } from "./queries.ts";

import slice from "./schema.generated.json" with { type: "json" };

interface GraphQLAnswer {
  data?: unknown;
  errors?: PrintedError[];
}

let built: GraphQLSchema | undefined;

/** The slice of GitHub's schema, built when it is first asked for. */
export function graphqlSchema(): GraphQLSchema {
  built ??= buildSchema(slice.sdl, { assumeValidSDL: true });
  return built;
}

/** Documents are few and sent again and again. */
const checked = new Map<string, { document: DocumentNode } | { errors: PrintedError[] }>();
const MOST_CHECKED = 500;

function check(source: string): { document: DocumentNode } | { errors: PrintedError[] } {
  const known = checked.get(source);
  if (known !== undefined) return known;
  const result = checkAnew(source);
  if (checked.size >= MOST_CHECKED) checked.clear();
  checked.set(source, result);
  return result;
}

function checkAnew(source: string): { document: DocumentNode } | { errors: PrintedError[] } {
  try {
    const document = parse(source);
    const errors = validate(graphqlSchema(), document);
    return errors.length === 0 ? { document } : { errors: errors.map(printDocumentError) };
  } catch (error) {
    if (error instanceof GraphQLError) return { errors: [printDocumentError(error)] };
    throw error;
  }
}

/** Runs one document. Mutations of a document run one after the other, and one that fails does not keep the next from running. */
export async function runGraphQL(world: World, actor: Actor, body: Record<string, unknown>): Promise<GraphQLAnswer> {
  const { query, variables, operationName } = body;
  if (typeof query !== "string" || query === "")
    return { errors: [{ message: "A query attribute must be specified and must be a string." }] };
  const result = check(query);
  if ("errors" in result) return { errors: result.errors };
  const context: Context = { world, actor, print: (found) => printNode(context, found) };
  const { data, errors } = await execute(
    defined({
      schema: graphqlSchema(),
      document: result.document,
      rootValue: isMutation(result.document, operationName) ? mutationRoot(context) : queryRoot(context),
      contextValue: context,
      variableValues: typeof variables === "object" && variables !== null ? (variables as Record<string, unknown>) : undefined,
      operationName: typeof operationName === "string" && operationName !== "" ? operationName : undefined,
    }),
  );
  return defined({
    data,
    errors: errors === undefined || errors.length === 0 ? undefined : errors.map(printFieldError),
  });
}

function isMutation(document: DocumentNode, operationName: unknown): boolean {
  const operations = document.definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  const wanted = operations.find((one) => one.name?.value === operationName) ?? operations[0];
  return wanted?.operation === "mutation";
}

type Mutation = (context: Context, input: never) => object | Promise<object>;

/** The root of mutations: each takes one `input` and gives its `clientMutationId` back. */
function mutationRoot(context: Context) {
  const all: Record<string, Mutation> = { ...GIT_MUTATIONS, ...PULL_MUTATIONS, ...ISSUE_MUTATIONS };
  const root: Record<string, (args: { input: Record<string, unknown> }) => Promise<object>> = {};
  for (const [name, run] of Object.entries(all)) {
    root[name] = async ({ input }) => {
      if (context.actor.kind === "anonymous") throw new ApiFailure(403, "Must be signed in");
      const payload = await run(context, input as never);
      return { clientMutationId: input["clientMutationId"] ?? null, ...payload };
    };
  }
  return root;
}
