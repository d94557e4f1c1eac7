/**
 * The box in which the visitor comments, approves and merges, with a button for each command that would help just now. It takes what was sent by a page of
 * ours in a browser on this machine: a token of this process stands in the form, and the request says it comes from there.
 */
import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { bodyWithin } from "../../listen.ts";
import { ApiFailure } from "../http/failure.ts";
import type { Issue, Offers, Repo, Visitor } from "../model/model.ts";
import { createPerson } from "../model/people.ts";
import { atLeast, fullName, roleOf } from "../model/world.ts";
import { type Html, html, issuePath, type RepoView } from "./frame.ts";

/** A comment's 65,536 characters, each of up to four bytes that are written as three. */
const MOST_BYTES = 800_000;

export function commentBox({ repo, visitor }: RepoView, issue: Issue): Html | string {
  if (visitor === undefined) return "";
  const action = `${issuePath(repo, issue)}/comment`;
  return html`<section class="box" id="comment" aria-label="Comment">
<div id="offers" data-live>${offersForm(visitor, visitor.offers?.(fullName(repo), issue.number), action)}</div>
<form method="post" action="${action}"><label for="body">Comment as <b>${visitor.user.login}</b></label>
<input type="hidden" name="token" value="${visitor.token}">
<textarea id="body" name="body" rows="4" maxlength="65536" placeholder="Say something, or a command such as /status or /help"></textarea>
<p id="buttons" data-live>${mayMerge(repo, visitor, issue) ? html`<button name="merge" value="merge">Merge pull request</button> ` : ""}${mayApprove(visitor, issue) ? html`<button name="review" value="APPROVE">Approve</button> ` : ""}<button class="main">Comment</button></p></form></section>`;
}

/** Nobody approves what they wrote. */
function mayApprove({ user }: Visitor, issue: Issue): boolean {
  return issue.pull !== undefined && issue.state === "open" && issue.user.id !== user.id;
}

function mayMerge(repo: Repo, { user }: Visitor, { pull, state }: Issue): boolean {
  return pull !== undefined && state === "open" && !pull.draft && atLeast(roleOf(repo, user), "write");
}

function offersForm({ token }: Visitor, offers: Offers | undefined, action: string): Html | string {
  if (offers === undefined || offers.comments.length === 0) return "";
  const button = ({ body, effect }: Offers["comments"][number]) =>
    html`<button name="offer" value="${body}"><code>${body}</code><span>${effect}</span></button>`;
  return html`<form method="post" action="${action}" class="offers${offers.waits ? " waits" : ""}"><h2>${offers.title}</h2>
<input type="hidden" name="token" value="${token}">${offers.comments.map(button)}</form>`;
}

/** Does this machine ask? A name that leads here but is another's, as a page elsewhere may make up, does not count. */
export function isLoopbackHost(host: string | undefined): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i.test(host ?? "");
}

/** Posts what the form holds, or merges; gives where that is shown. Throws ApiFailure where it must not, or cannot be. */
export async function takeComment(view: RepoView, issue: Issue, request: IncomingMessage): Promise<string> {
  const { repo, world, visitor } = view;
  if (visitor === undefined) throw notOurs();
  const form = await formOf(request);
  if (!isSame(form.get("token") ?? "", visitor.token))
    throw new ApiFailure(403, "The page is of another run of the embedded GitHub: load it again, and comment there.");
  const body = (form.get("offer") ?? form.get("body") ?? "").replace(/\r\n/g, "\n");
  const person = createPerson(world, visitor.user);
  if (form.get("review") === "APPROVE")
    return `${issuePath(repo, issue)}#pullrequestreview-${await person.review(fullName(repo), issue.number, "APPROVE", body)}`;
  if (form.has("merge")) {
    if (!mayMerge(repo, visitor, issue))
      throw new ApiFailure(403, "You may not merge it: that wants write permission, and a pull request that is open and no draft.");
    await person.mergePull(fullName(repo), issue.number);
    return issuePath(repo, issue);
  }
  const id = person.comment(fullName(repo), issue.number, body);
  return `${issuePath(repo, issue)}#issuecomment-${id}`;
}

/** What a page of ours sent. Throws ApiFailure where another one, or another machine, may have. */
export async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  if (!isOurs(request)) throw notOurs();
  const sent = await bodyWithin(request, MOST_BYTES);
  if (sent === undefined) throw new ApiFailure(413, "The comment is too long.");
  return new URLSearchParams(sent.toString());
}

function notOurs(): ApiFailure {
  return new ApiFailure(403, "Forms are taken from this machine's browser and its own pages alone.");
}

/** Browsers say from which page a form was sent. */
function isOurs({ headers }: IncomingMessage): boolean {
  const { host, origin } = headers;
  const site = headers["sec-fetch-site"];
  if (!isLoopbackHost(host) || (site !== undefined && site !== "same-origin")) return false;
  if (origin !== undefined && origin !== `http://${host}`) return false;
  return /^application\/x-www-form-urlencoded(?:;|$)/i.test(headers["content-type"] ?? "");
}

function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}
