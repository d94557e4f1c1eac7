/** Puts Applications together that run one thing in several environments. Called by `propose.ts`, with all Applications of the repo at once. */
import { normalRepo } from "../../core/argocd/same.ts";
import { isRegionWord, rankOf } from "../../core/base/environments.ts";
import { textAt } from "../../core/base/is-record.ts";
import { sourcesOf } from "./places-spec.ts";
import type { InitTarget } from "./types.ts";

/** Applications of one thing. */
interface ApplicationGroup {
  name: string;
  targets: InitTarget[];
}

/** Groups by what is left of name and source once words of environments, regions and clusters are taken out. Those alone are in none. */
export function groupApplications(targets: readonly InitTarget[]): ApplicationGroup[] {
  const groups = Map.groupBy(targets, identityOf);
  const found: ApplicationGroup[] = [];
  for (const members of groups.values()) {
    const names = new Set(members.map(({ application, controlPlane }) => `${controlPlane?.name ?? ""}/${application}`));
    if (members.length < 2 || names.size < members.length) continue;
    found.push({ name: nameOf(members), targets: members });
  }
  return found;
}

function identityOf(target: InitTarget): string {
  const name = blank(target.application, target);
  const sources = sourcesOf(target.spec).map(({ source }) => {
    const what = textAt(source, "chart") ?? blank(textAt(source, "path") ?? "", target);
    return `${normalRepo(textAt(source, "repoURL") ?? "")} ${what}`;
  });
  // Production often has no word of its own in names.
  const plain = name.replaceAll(/[-_.]*\*[-_.]*/g, "-").replaceAll(/^-|-$/g, "");
  // A name of nothing but an environment says nothing of what it runs.
  const own = /[a-z0-9]/i.test(name.replaceAll("*", "")) ? "" : setOf(target);
  return [target.namespace, plain, own, ...sources].join("\n");
}

function setOf({ set }: InitTarget): string {
  return set === undefined ? "" : `${set.namespace}/${set.name}`;
}

/** The text with `*` for what may differ between environments. */
function blank(text: string, { cluster, controlPlane }: InitTarget): string {
  const own = controlPlane === undefined ? text : replaceWord(text, "in-cluster");
  const named = cluster.name.length > 1 ? replaceWord(own, cluster.name) : own;
  return (
    named
      .split(/([^A-Za-z0-9*]+)/)
      .map((word, i) => (i % 2 === 0 && varies(word) ? "*" : word))
      .join("")
      // Folders are put in order by numbers: `01-dev`.
      .replaceAll(/(?<![A-Za-z0-9])\d{1,3}[-_.]\*/g, "*")
      .replaceAll(/\*(?:[-_.]?(?:\*|\d+(?![A-Za-z0-9])))+/g, "*")
  );
}

function varies(word: string): boolean {
  return word !== "" && (rankOf(word) !== undefined || isRegionWord(word));
}

function replaceWord(text: string, word: string): string {
  const escaped = word.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return text.replaceAll(new RegExp(`(?<![A-Za-z0-9])${escaped}(?![A-Za-z0-9])`, "g"), "*");
}

/** What their names have in common; or else the chart or folder. */
function nameOf(members: readonly InitTarget[]): string {
  const [first] = members;
  if (first === undefined) return "";
  const common = blank(first.application, first)
    .replaceAll("*", "")
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== "")
    .join("-");
  if (common.length > 1) return common;
  const source = sourcesOf(first.spec)[0]?.source;
  const folder = textAt(source, "path")
    ?.split("/")
    .findLast((step) => /[a-z0-9]/i.test(blank(step, first).replaceAll("*", "")));
  return textAt(source, "chart") ?? folder ?? first.set?.name ?? first.application;
}

/** Labels that say what an Application runs, likeliest first. */
const WHAT = ["app.kubernetes.io/name", "app.kubernetes.io/component", "app", "service", "component", "app.kubernetes.io/instance", "name"];

/** A label that they have, and no other Application of their namespace, or two of them: or else their names. */
export function selectorOf(members: readonly InitTarget[], all: readonly InitTarget[]): Record<string, unknown> {
  const [first] = members;
  const near = all.filter(({ namespace }) => namespace === first?.namespace);
  const labels = Object.entries(first?.labels ?? {})
    .filter(([key, value]) => members.every((target) => target.labels[key] === value))
    .sort(([a], [b]) => likely(a) - likely(b));
  const takes = (wanted: readonly (readonly [string, string])[]) =>
    near.filter((target) => wanted.every(([key, value]) => target.labels[key] === value)).every((target) => members.includes(target));
  for (const one of labels) if (takes([one])) return { matchLabels: Object.fromEntries([one]) };
  for (const one of labels.slice(0, 8))
    for (const other of labels.slice(0, 8))
      if (one !== other && takes([one, other])) return { matchLabels: Object.fromEntries([one, other]) };
  return { matchExpressions: [{ key: "name", operator: "In", values: [...new Set(members.map((target) => target.application))].sort() }] };
}

function likely(key: string): number {
  const place = WHAT.indexOf(key);
  return place === -1 ? WHAT.length : place;
}
