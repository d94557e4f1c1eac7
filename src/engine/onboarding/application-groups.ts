import { normalRepo } from "../../core/argocd/same.ts";
import { sourcesOf } from "./places-spec.ts";
import { textAt } from "./scan.ts";
import type { InitTarget } from "./types.ts";

/** Hand-written Applications of one thing on several clusters. */
interface ApplicationGroup {
  name: string;
  targets: InitTarget[];
  /** Of `sourceRef.selector`. */
  selector: Record<string, unknown>;
}

/** Puts Applications together that run the same chart or the same folder but for the cluster's name, one on each cluster. */
export function groupApplications(targets: readonly InitTarget[]): ApplicationGroup[] {
  const groups = Map.groupBy(targets, (target) => `${target.namespace} ${identityOf(target)}`);
  const found: ApplicationGroup[] = [];
  for (const members of groups.values()) {
    const clusters = new Set(members.map((target) => target.cluster.name));
    if (members.length < 2 || clusters.size < members.length) continue;
    found.push({ name: nameOf(members), targets: members, selector: selectorOf(members, targets) });
  }
  return found;
}

/** What it runs, with the cluster's name and words like it taken out. */
function identityOf(target: InitTarget): string {
  const parts = sourcesOf(target.spec).map(({ source }) => {
    const what = textAt(source, "chart") ?? textAt(source, "path") ?? "";
    return `${normalRepo(textAt(source, "repoURL") ?? "")} ${without(what, target)}`;
  });
  return `${parts.join("|")} ${textAt(target.spec, "destination", "namespace") ?? ""}`;
}

function without(text: string, { cluster, application }: InitTarget): string {
  const words = [cluster.name, ...cluster.name.split(/[^A-Za-z0-9]+/), application.split(/[^A-Za-z0-9]+/).at(-1) ?? ""].filter(
    (word) => word.length > 1,
  );
  return text
    .split("/")
    .map((step) => (words.some((word) => step === word) ? "*" : step.replaceAll(cluster.name, "*")))
    .join("/");
}

/** What their names begin with, or else the chart or folder. */
function nameOf(members: readonly InitTarget[]): string {
  const [first = ""] = members.map((target) => target.application);
  let end = first.length;
  for (const { application } of members) while (!application.startsWith(first.slice(0, end))) end -= 1;
  const common = first.slice(0, end).replace(/(?<![^A-Za-z0-9])[^A-Za-z0-9]+$/, "");
  if (common.length > 2) return common;
  const source = sourcesOf(members[0]?.spec ?? {})[0]?.source;
  const what =
    textAt(source, "chart") ??
    textAt(source, "path")
      ?.split("/")
      .findLast((step) => step !== "");
  return what ?? first;
}

/** A label that they have, and no other Application: or else their names. */
function selectorOf(members: readonly InitTarget[], all: readonly InitTarget[]): Record<string, unknown> {
  const mine = new Set(members);
  for (const [key, value] of Object.entries(members[0]?.labels ?? {})) {
    const selected = all.filter((target) => target.namespace === members[0]?.namespace && target.labels[key] === value);
    if (selected.length === members.length && selected.every((target) => mine.has(target))) return { matchLabels: { [key]: value } };
  }
  return { matchExpressions: [{ key: "name", operator: "In", values: members.map((target) => target.application).sort() }] };
}
