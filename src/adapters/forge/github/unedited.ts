import type { Comment } from "../port.ts";
import { asking } from "./errors.ts";
import { refusedError, sendGraphQL } from "./graphql/send.ts";
import { TEXTS_NOW, type TextNow, type TextsNowResult } from "./graphql/texts.ts";
import type { RepoOctokit } from "./octokit.ts";

/** Nodes that GitHub gives in one answer. */
const MOST_NODES = 100;

/** See Forge.unedited. What is not there any more is not unedited; throws where GitHub does not give what it was asked for. */
export async function findUnedited(place: RepoOctokit, comments: readonly Comment[]): Promise<Comment[]> {
  const asked = comments.filter(({ node }) => node !== undefined).slice(0, MOST_NODES);
  if (asked.length === 0) return [];
  const { data, errors } = await asking(() => sendGraphQL<TextsNowResult>(place, TEXTS_NOW, { ids: asked.map(({ node }) => node) }));
  const now = new Map((data.nodes ?? []).flatMap((one) => (one?.id === undefined ? [] : [[one.id, one]])));
  // A node that GitHub could not give just now says nothing of its author: it is asked again.
  const [failed] = errors;
  if (failed !== undefined && asked.some(({ node = "" }) => !now.has(node))) throw refusedError(TEXTS_NOW, failed);
  return asked.filter(({ node = "", body }) => isAsWritten(now.get(node), body));
}

/** A review may have been edited as a draft, which its author alone sees. */
function isAsWritten(now: TextNow | undefined, body: string): boolean {
  if (now === undefined || now.body !== body || now.lastEditedAt === undefined) return false;
  if (now.lastEditedAt === null) return now.submittedAt !== undefined || now.editor === null;
  return typeof now.submittedAt === "string" && Date.parse(now.lastEditedAt) < Date.parse(now.submittedAt);
}
