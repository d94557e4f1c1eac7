/**
 * A branch for each environment: Applications that read this repo at branches of their own, none of them the default one. Their rollout moves
 * the branches to the commit of a merge, one batch after the other. Called by `propose.ts` where no file holds what differs.
 */
import { tidyPath } from "../../core/argocd/source-places.ts";
import { textAt } from "../../core/base/is-record.ts";
import { filesTakenBy, kustomizationsIn } from "../config-repo/kustomize.ts";
import type { Chosen } from "./choose-pins.ts";
import { generalise, labelFor, type Variables } from "./generalise.ts";
import { sourcesOf } from "./places-spec.ts";
import type { InitInput, InitTarget, Place } from "./types.ts";
import { isVersion, readsBase } from "./versions.ts";

type Known = Pick<InitInput, "files" | "isThisRepo" | "defaultBranch">;

/** undefined: they do not follow branches so. `label`: one would tell their branches apart. */
export function branchPins(
  targets: readonly InitTarget[],
  all: readonly InitTarget[],
  input: Known,
  variables: Variables,
): Chosen | { label: { values: string[]; text: string } } | undefined {
  const branches = targets.map((target) => branchOf(target, input));
  const known = branches.filter((branch) => branch !== undefined);
  if (known.length < targets.length || new Set(known).size < targets.length) return undefined;
  // What else follows one of them would move with it.
  if (all.some((target) => !targets.includes(target) && known.includes(branchOf(target, input) ?? ""))) return undefined;
  const places = known.map((branch): Place => ({ kind: "branch", slot: "branch", file: "", path: branch, value: branch }));
  const general = generalise(targets, places, variables);
  if ("texts" in general) {
    const label = labelFor(general.texts);
    return label && { label };
  }
  if (!("path" in general.pin)) return undefined;
  const release = { commit: { paths: pathsRead(targets, input) } };
  const pins = [{ branch: general.pin.path }];
  return { pins, kinds: ["branch"], release, places: [], shared: false, guesses: [{ kind: "BranchesMove" }], questions: [] };
}

/** The branch at which all of its sources read this repo; undefined: there is none, or it is where batches are merged. */
function branchOf({ spec }: InitTarget, { isThisRepo, defaultBranch }: Known): string | undefined {
  const sources = sourcesOf(spec).map(({ source }) => source);
  const own = sources.filter((source) => isThisRepo(textAt(source, "repoURL") ?? ""));
  const [branch, ...others] = [...new Set(own.map((source) => textAt(source, "targetRevision") ?? ""))];
  return branch === undefined || others.length > 0 || isVersion(branch) || readsBase(branch, defaultBranch) ? undefined : branch;
}

/** Globs of all that the Applications are made from, as it stands on the default branch. */
function pathsRead(targets: readonly InitTarget[], { files }: Pick<InitInput, "files">): string[] {
  const kustomizations = kustomizationsIn(files);
  const folders = targets.flatMap(({ spec }) =>
    sourcesOf(spec).flatMap(({ source }) => {
      const folder = tidyPath(textAt(source, "path") ?? "");
      const taken = [...filesTakenBy(kustomizations, folder)].map((file) => file.split("/").slice(0, -1).join("/"));
      return [folder, ...taken];
    }),
  );
  const plain = [...new Set(folders)].filter((folder) => folder !== "" && folder !== ".").sort();
  const outer = plain.filter((folder) => !plain.some((other) => folder.startsWith(`${other}/`)));
  return plain.length < new Set(folders).size ? ["**", "!rollouts/**", "!.github/**"] : outer.map((folder) => `${folder}/**`);
}
