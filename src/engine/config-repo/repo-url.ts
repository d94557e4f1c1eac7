/** One spelling for the many of a repository: scheme, user, port, `.git`, trailing slash and the host's case do not count. */
function normaliseRepoURL(url: string): string {
  const scp = /^[^/@]+@([^:/]+):(.+)$/.exec(url);
  const text = scp === null ? url : `ssh://${scp[1]}/${scp[2]}`;
  const match = /^[a-z+]+:\/\/(?:[^@/]*@)?([^/]+)\/(.*)$/i.exec(text);
  if (match === null) return url;
  const [, host = "", path = ""] = match;
  return `${host.toLowerCase()}/${path.replace(/(?<!\/)\/+$/, "").replace(/\.git$/, "")}`.toLowerCase();
}

export function sameRepo(a: string, b: string): boolean {
  return normaliseRepoURL(a) === normaliseRepoURL(b);
}

/** Whether a source or generator of the config repo that names this revision reads the base branch. */
export function isBaseRevision(revision: string | undefined, baseBranch: string): boolean {
  const name = (revision ?? "").replace(/^refs\/heads\//, "");
  return name === "" || name === "HEAD" || name === baseBranch;
}
