import type { Comment } from "../port.ts";
import { asking } from "./errors.ts";
import { sendGraphQL } from "./graphql/send.ts";
import { TEXTS_NOW, type TextNow, type TextsNowResult } from "./graphql/texts.ts";
import type { RepoOctokit } from "./octokit.ts";

/** Nodes that GitHub gives in one answer. */
const MOST_NODES = 100;

/** See Forge.unedited. What is not there any more, or cannot be asked for, is not unedited. */
export async function unedited(place: RepoOctokit, comments: readonly Comment[]): Promise<Comment[]> {
  const asked = comments.filter(({ node }) => node !== undefined).slice(0, MOST_NODES);
  if (asked.length === 0) return [];
  const { data } = await asking(() => sendGraphQL<TextsNowResult>(place, TEXTS_NOW, { ids: asked.map(({ node }) => node) }));
  const now = new Map((data.nodes ?? []).flatMap((one) => (one?.id === undefined ? [] : [[one.id, one]])));
  return asked.filter(({ node = "", body }) => isAsWritten(now.get(node), body));
}

/** A review may have been edited as a draft, which its author alone sees. */
function isAsWritten(now: TextNow | undefined, body: string): boolean {
  if (now === undefined || now.body !== body || now.lastEditedAt === undefined) return false;
  if (now.lastEditedAt === null) return now.submittedAt !== undefined || now.editor === null;
  return typeof now.submittedAt === "string" && Date.parse(now.lastEditedAt) < Date.parse(now.submittedAt);
}
