import { expect, test } from "vitest";
import type { Comment } from "../port.ts";
import { findUnedited } from "./index.ts";
import type { RepoOctokit } from "./octokit.ts";

const HALT = { id: 1, node: "IC_1", body: "/halt" } as Comment;

/** GitHub's answer with nodes, and with errors beside them. */
function answering(nodes: unknown[], errors: unknown[]): RepoOctokit {
  const failed = Object.assign(new Error("partly"), { name: "GraphqlResponseError", data: { nodes }, errors });
  const graphql = async () => {
    if (errors.length > 0) throw failed;
    return { nodes };
  };
  return { octokit: { graphql }, owner: "acme", repo: "fleet" } as unknown as RepoOctokit;
}

test.each(["NOT_FOUND", "FORBIDDEN", ""])(
  "a comment that GitHub fails to give just now (%s) is asked for again, and not taken for edited",
  async (type) => {
    await expect(findUnedited(answering([null], [{ type, path: ["nodes", 0], message: "no" }]), [HALT])).rejects.toThrow();
  },
);

test("one that is given is judged, whatever failed beside it", async () => {
  const node = { id: "IC_1", body: "/halt", lastEditedAt: null, editor: null };
  expect(await findUnedited(answering([node], [{ type: "NOT_FOUND", path: ["nodes", 1], message: "no" }]), [HALT])).toEqual([HALT]);
  expect(await findUnedited(answering([{ ...node, body: "/promote" }], []), [HALT])).toEqual([]);
});
