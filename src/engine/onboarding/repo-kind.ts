/** What a repo is that holds no object of Argo CD's: told in one sentence, in place of nothing. Called by `propose.ts`. */
import { type RepoFiles, readOrNull } from "../../core/base/repo-files.ts";
import type { RepoKind } from "../../core/report/onboarding/repo-kind.ts";
import type { Undecided } from "../../core/report/onboarding/types.ts";

/** Marks of each kind, the surest first: of files by their names, or of what stands in them. */
const MARKS: readonly { kind: RepoKind["kind"]; file: RegExp; text?: RegExp }[] = [
  { kind: "Flux", file: /\.ya?ml$/, text: /^apiVersion:\s*["']?(?:kustomize|helm|source)\.toolkit\.fluxcd\.io\//m },
  { kind: "Kargo", file: /\.ya?ml$/, text: /^apiVersion:\s*["']?kargo\.akuity\.io\//m },
  {
    kind: "Terraform",
    file: /\.tf(?:\.json)?$/,
    text: /["']?argocd_application(?:_set)?["']|["']?kind["']?\s*[=:]\s*["']Application(?:Set)?["']|^\s*kind:\s*Application(?:Set)?\b/m,
  },
  { kind: "Helmfile", file: /(?:^|\/)helmfile(?:\.d\/.*)?\.(?:ya?ml|gotmpl)(?:\.gotmpl)?$/ },
  { kind: "Fleet", file: /(?:^|\/)fleet\.ya?ml$/ },
  { kind: "Kustomize", file: /(?:^|\/)(?:overlays|envs|environments|stages)\/.*kustomization\.ya?ml$/ },
  { kind: "Kustomize", file: /(?:^|\/)kustomization\.ya?ml$/ },
  { kind: "Helm", file: /(?:^|\/)Chart\.yaml$/ },
  { kind: "Manifests", file: /\.ya?ml$/, text: /^kind:\s*["']?(?:Deployment|StatefulSet|DaemonSet|CronJob|Service)\b/m },
];

const SURE: readonly RepoKind["kind"][] = ["Flux", "Kargo", "Terraform", "Helmfile", "Fleet"];

/** The same where nothing was found; undefined: something was, or may be in what is too large to be read. */
export function repoKindBeside(undecided: readonly Undecided[], files: RepoFiles): RepoKind | undefined {
  if (undecided.some(({ why }) => why.kind !== "TooLarge" && why.kind !== "TooMuchText")) return undefined;
  const found = repoKindOf(files);
  return undecided.length === 0 || SURE.includes(found.kind) ? found : undefined;
}

const MOST_READ = 5_000;
/** What marks a kind stands near the beginning. */
const MOST_TEXT = 64 * 1024;

/** The likeliest kind, with the first file that says so. */
export function repoKindOf(files: RepoFiles): RepoKind {
  const paths = files.paths().filter((path) => !path.startsWith(".github/"));
  const found = new Map<RepoKind["kind"], string>();
  const byText = MARKS.filter(({ text }) => text !== undefined);
  for (const { kind, file, text } of MARKS) {
    const path = text === undefined ? paths.find((one) => file.test(one)) : undefined;
    if (path !== undefined && !found.has(kind)) found.set(kind, path);
  }
  const isMarked = (path: string) => byText.filter(({ kind, file }) => !found.has(kind) && file.test(path));
  for (const path of paths.filter((one) => isMarked(one).length > 0).slice(0, MOST_READ)) {
    const missing = isMarked(path);
    if (missing.length === 0) continue;
    const text = (readOrNull(files, path) ?? "").slice(0, MOST_TEXT);
    for (const mark of missing) if (mark.text?.test(text) === true) found.set(mark.kind, path);
  }
  const first = MARKS.find(({ kind }) => found.has(kind));
  return first === undefined ? { kind: "Nothing" } : { kind: first.kind, file: found.get(first.kind) ?? "" };
}
