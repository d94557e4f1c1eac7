/** One spelling for the many of a repository: scheme, user, port, `.git`, trailing slash and the host's case do not count. */
export function normaliseRepoURL(url: string): string {
  const scp = /^[^/@]+@([^:/]+):(.+)$/.exec(url);
  const text = scp === null ? url : `ssh://${scp[1]}/${scp[2]}`;
  const match = /^[a-z+]+:\/\/(?:[^@/]*@)?([^/]+)\/(.*)$/i.exec(text);
  if (match === null) return url;
  const [, host = "", path = ""] = match;
  return `${host.toLowerCase()}/${path.replace(/\/+$/, "").replace(/\.git$/, "")}`.toLowerCase();
}

export function sameRepo(a: string, b: string): boolean {
  return normaliseRepoURL(a) === normaliseRepoURL(b);
}
