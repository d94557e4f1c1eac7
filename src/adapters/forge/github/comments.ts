import { defined } from "../../../core/base/defined.ts";
import type { Comment, Reaction } from "../port.ts";
import { serialByKey } from "./by-key.ts";
import { asking } from "./errors.ts";
import { NEVER_RETRY, type RepoOctokit } from "./octokit.ts";

export const COMMENT_LIMIT = 65_536;

export async function comments({ octokit, owner, repo }: RepoOctokit, pull: number, us: string, since?: string): Promise<Comment[]> {
  const all = await asking(`read the comments of ${pull}`, () =>
    octokit.paginate(octokit.rest.issues.listComments, defined({ owner, repo, issue_number: pull, per_page: 100, since })),
  );
  return all.map((comment) => ({
    id: comment.id,
    author: comment.user?.login ?? "ghost",
    authorIsBot: comment.user?.type === "Bot" || comment.performed_via_github_app != null,
    ours: comment.user?.login === us,
    body: comment.body ?? "",
    createdAt: new Date(comment.created_at).toISOString(),
    updatedAt: new Date(comment.updated_at).toISOString(),
  }));
}

/** Found by its hidden marker and by being ours: anybody can write the marker. */
export function stickyComments(place: RepoOctokit, identity: () => Promise<{ login: string }>) {
  const known = new Map<string, { id: number; url: string; body: string }>();
  const turn = serialByKey();
  // One after the other for each comment: two at once would each find none, and make two.
  return (pull: number, marker: string, text: string): Promise<{ id: number; url: string }> =>
    turn(`${pull} ${marker}`, () => put(pull, marker, text));

  async function put(pull: number, marker: string, text: string): Promise<{ id: number; url: string }> {
    const hidden = `<!-- ${marker} -->`;
    const body = `${hidden}\n${text}`;
    if (body.length > COMMENT_LIMIT) throw new RangeError(`a comment of ${body.length} characters: GitHub takes at most ${COMMENT_LIMIT}`);
    const key = `${pull} ${marker}`;
    const there = known.get(key) ?? (await find(pull, hidden));
    if (there?.body === body) return there;
    const data = await write(pull, body, there?.id).catch((error) => {
      // Somebody deleted it: the next call makes it anew.
      known.delete(key);
      throw error;
    });
    const made = { id: data.id, url: data.html_url, body };
    known.set(key, made);
    return made;
  }

  async function write(pull: number, body: string, id: number | undefined) {
    const { octokit, owner, repo } = place;
    return asking(`comment on ${pull}`, async () => {
      if (id === undefined)
        return (await octokit.rest.issues.createComment({ owner, repo, issue_number: pull, body, ...NEVER_RETRY })).data;
      return (await octokit.rest.issues.updateComment({ owner, repo, comment_id: id, body, ...NEVER_RETRY })).data;
    });
  }

  async function find(pull: number, hidden: string) {
    const { octokit, owner, repo } = place;
    const { login } = await identity();
    const all = await asking(`read the comments of ${pull}`, () =>
      octokit.paginate(octokit.rest.issues.listComments, { owner, repo, issue_number: pull, per_page: 100 }),
    );
    const found = all.find((comment) => comment.user?.login === login && comment.body?.startsWith(hidden) === true);
    return found === undefined ? undefined : { id: found.id, url: found.html_url, body: found.body ?? "" };
  }
}

/** Setting the same reaction twice is one reaction. */
export async function react({ octokit, owner, repo }: RepoOctokit, comment: number, content: Reaction): Promise<void> {
  await asking(`react to comment ${comment}`, () =>
    octokit.rest.reactions.createForIssueComment({ owner, repo, comment_id: comment, content }),
  );
}
