import type { CommitObject, Signature } from "../git/objects.ts";
import { readTree, type TreeEntry } from "../git/trees.ts";
import { signerOf, verificationOf } from "../http/signatures.ts";
import type { Repo } from "../model/model.ts";
import { fullName, nodeId, seconds } from "../model/world.ts";
import { accountOf } from "../shapes/commit.ts";
import { rollupNode, statusNode } from "./check-nodes.ts";
import { type ConnectionArgs, connection } from "./connection.ts";
import type { Context } from "./context.ts";
import { actorNode } from "./people.ts";

/** A ref by its full name; null where it is not there. */
export async function refNode(context: Context, repo: Repo, ref: string): Promise<object | null> {
  const sha = await repo.git.ref(ref);
  if (sha === undefined) return null;
  const [prefix = "refs/heads/"] = /^refs\/[^/]+\//.exec(ref) ?? [];
  const branch = ref.slice(prefix.length);
  return {
    __typename: "Ref",
    id: nodeId("REF", `${repo.id}:${ref}`),
    name: branch,
    prefix,
    repository: () => context.print({ kind: "repository", repo }),
    target: () => objectNode(context, repo, sha),
    refUpdateRule: () => updateRule(repo, branch),
  };
}

/** Classic protection, as everybody who can read the repository sees it. */
function updateRule(repo: Repo, branch: string) {
  const rules = repo.protections.get(branch);
  if (rules === undefined) return null;
  return {
    allowsDeletions: false,
    allowsForcePushes: false,
    blocksCreations: false,
    pattern: branch,
    requiredApprovingReviewCount: rules.approvals === 0 && !rules.codeOwners ? null : rules.approvals,
    requiredStatusCheckContexts: rules.requiredChecks.length === 0 && !rules.strict ? null : rules.requiredChecks,
    requiresCodeOwnerReviews: rules.codeOwners,
    requiresConversationResolution: false,
    requiresLinearHistory: false,
    requiresSignatures: rules.signatures,
    viewerAllowedToDismissReviews: false,
    viewerCanPush: false,
  };
}

/** A commit, tree or blob by its id or an expression like `main:README.md`. */
export async function objectNode(context: Context, repo: Repo, expression: string): Promise<object | null> {
  const found = await repo.git.cat.contents(expression);
  if (found === undefined) return null;
  if (found.type === "commit") return commitNodeOf(context, repo, found.sha);
  const base = { oid: found.sha, abbreviatedOid: found.sha.slice(0, 7), repository: () => context.print({ kind: "repository", repo }) };
  if (found.type === "tree") {
    const entries = async () => ((await readTree(repo.git.cat, found.sha)) ?? []).map((entry) => entryNode(context, repo, entry));
    return { __typename: "Tree", id: nodeId("T", `${repo.id}:${found.sha}`), ...base, entries };
  }
  if (found.type !== "blob") return null;
  const isBinary = found.content.includes(0);
  const text = isBinary ? null : found.content.toString();
  return { __typename: "Blob", id: nodeId("B", `${repo.id}:${found.sha}`), ...base, byteSize: found.size, isBinary, text };
}

function entryNode(context: Context, repo: Repo, entry: TreeEntry) {
  const type = entry.mode === "40000" ? "tree" : entry.mode === "160000" ? "commit" : "blob";
  const object = () => objectNode(context, repo, entry.sha);
  return { name: entry.name, path: entry.name, oid: entry.sha, type, mode: Number.parseInt(entry.mode, 8), object };
}

export async function commitNodeOf(context: Context, repo: Repo, sha: string): Promise<object | null> {
  const commit = await repo.git.commit(sha);
  return commit === undefined ? null : commitNode(context, repo, commit);
}

function gitActor(context: Context, who: Signature) {
  const user = accountOf(context.world, who);
  return {
    name: who.name,
    email: who.email,
    date: seconds(who.at * 1000),
    user: () => (user?.type === "User" ? actorNode(context, user) : null),
  };
}

function commitNode(context: Context, repo: Repo, commit: CommitObject) {
  const message = commit.message.replace(/\n$/, "");
  const [headline = "", ...rest] = message.split("\n");
  return {
    __typename: "Commit",
    id: nodeId("C", `${repo.id}:${commit.sha}`),
    oid: commit.sha,
    abbreviatedOid: commit.sha.slice(0, 7),
    author: gitActor(context, commit.author),
    committer: gitActor(context, commit.committer),
    authoredDate: seconds(commit.author.at * 1000),
    committedDate: seconds(commit.committer.at * 1000),
    message,
    messageHeadline: headline,
    messageBody: rest.join("\n").trim(),
    url: `${context.world.origin}/${fullName(repo)}/commit/${commit.sha}`,
    repository: () => context.print({ kind: "repository", repo }),
    tree: () => objectNode(context, repo, commit.tree),
    parents: async (args: ConnectionArgs) => {
      const parents = await Promise.all(commit.parents.map((sha) => commitNodeOf(context, repo, sha)));
      return connection("parents", parents, args, (one) => one);
    },
    signature: () => signatureNode(context, commit),
    status: () => statusNode(context, repo, commit.sha),
    statusCheckRollup: () => rollupNode(context, repo, commit.sha),
  };
}

const STATES = {
  valid: "VALID",
  unsigned: "UNSIGNED",
  unknown_key: "UNKNOWN_KEY",
  invalid: "INVALID",
  bad_email: "BAD_EMAIL",
  unknown_signature_type: "UNKNOWN_SIG_TYPE",
  gpgverify_unavailable: "GPGVERIFY_UNAVAILABLE",
  gpgverify_error: "GPGVERIFY_ERROR",
} as const;

function signatureNode(context: Context, commit: CommitObject) {
  const { verified, reason, signature, payload, verified_at } = verificationOf(context.world, commit);
  if (signature === null) return null;
  const signer = signerOf(context.world, commit);
  const ssh = signature.startsWith("-----BEGIN SSH");
  return {
    __typename: ssh ? "SshSignature" : "GpgSignature",
    email: commit.committer.email,
    isValid: verified,
    payload: payload ?? "",
    signature,
    signer: () => (signer?.type === "User" ? actorNode(context, signer) : null),
    state: STATES[reason],
    verifiedAt: verified_at,
    wasSignedByGitHub: verified && !ssh,
  };
}
