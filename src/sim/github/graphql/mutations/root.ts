import { ApiFailure } from "../../http/failure.ts";
import type { Context } from "../context.ts";
import { GIT_MUTATIONS } from "./git.ts";
import { ISSUE_MUTATIONS } from "./issues.ts";
import { PULL_MUTATIONS } from "./pulls.ts";

type Mutation = (context: Context, input: never) => object | Promise<object>;

/** The root of mutations: each takes one `input` and gives its `clientMutationId` back. */
export function mutationRoot(context: Context) {
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
