/** `GET /repos/*\/*\/pulls/*`: our `:name` and `*rest`, and GitHub's `{name}`, all become stars. */
export function routeKey(method: string, path: string): string {
  const parts = path.split("/").map((part) => (/^(:|\*|\{)/.test(part) ? "*" : part.replace(/\{[^}]+\}/g, "*")));
  return `${method.toUpperCase()} ${parts.join("/")}`;
}
