import { decodeApplication } from "../../../core/argocd/decode/application.ts";
import type { Inventory } from "../../../core/argocd/inventory-file.ts";
import { madeOnce, type RepoFiles } from "../../../core/base/repo-files.ts";
import type { Problem } from "../../../core/reasons/problems/problem.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { generatorCluster } from "../../../engine/config-repo/appset-in-git.ts";
import { kustomizationsIn, takersOf } from "../../../engine/config-repo/kustomize.ts";
import { declaredSet } from "../../../engine/lint/declared-sets.ts";
import { editsOf, type GatherInput, parentOf, type SetPart } from "../../../engine/lint/gather.ts";
import { AT_SOURCE, type ParentApplication } from "../../../engine/lint/gathered.ts";
import { lintOutside } from "../../../engine/lint/lint-outside.ts";
import { locateIn } from "../../../engine/resolve/plan-over.ts";
import { atName, setRef } from "../../../engine/resolve/source-sets.ts";
import { scanCheckout } from "../plan/near-source.ts";
import type { PlanMade } from "../plan/plan-make.ts";
import { setsMeant } from "../plan/sets-in-repo.ts";
import type { Checkout } from "./lint-checkout.ts";
import { originOf } from "./origin.ts";

/**
 * Lint of what stands outside the rollout's file, on a checkout: the ApplicationSets in the repo (or the inventory), the Applications
 * in both that may apply them, and, in a clone, where its remote is.
 */
export function outsideProblems(
  rollout: Rollout,
  checkout: Checkout,
  inventory: Inventory | undefined,
  made: Pick<PlanMade, "plan" | "applications">,
): Problem[] {
  const parts: SetPart[] = [];
  const problems: Problem[] = [];
  for (const { source, edits } of sourcesMade(rollout, checkout, inventory, made)) {
    const declared = declaredSet({ ...rollout, source }, checkout, inventory?.applicationSets);
    const placed = ({ path, ...problem }: Problem) =>
      path === AT_SOURCE ? locateIn(rollout, checkout, { ...problem, path: atName(rollout, source.name) }) : { ...problem, path };
    problems.push(...declared.problems.map(placed));
    if (declared.set !== undefined) parts.push({ source, set: declared.set, edits });
  }
  // Of a set that is nowhere or broken that alone is worth saying.
  if (parts.length === 0 && rollout.source.kind === "ApplicationSet") return problems;
  const origin = originOf(checkout.root);
  const input: GatherInput = {
    rollout,
    set: undefined,
    clusters: (inventory?.clusters ?? []).map((cluster) => generatorCluster(cluster)),
    edits: editsOf(made.plan),
    parents: parentsOf(checkout, inventory),
    templates: problems.flatMap((problem) => (problem.code === "SET_FED" && "template" in problem ? problem.template : [])),
    seesAll: false,
    repoURL: origin.repoURL,
    defaultBranch: origin.defaultBranch,
  };
  // What cannot be rendered was told where the Applications were looked for.
  return [...problems, ...lintOutside(input, checkout, parts).filter(({ code }) => code !== "SET_BROKEN")];
}

/** The sets that a rollout's Applications come from, with the pins of each: those it is about, or those that made what its selector takes. */
function sourcesMade(
  rollout: Rollout,
  checkout: Checkout,
  inventory: Inventory | undefined,
  { plan, applications = [] }: Pick<PlanMade, "plan" | "applications">,
): Pick<SetPart, "source" | "edits">[] {
  const { source } = rollout;
  const edits = editsOf(plan);
  if (source.kind === "ApplicationSet" && source.name !== "") return [{ source, edits }];
  const made = Map.groupBy(applications, ({ view: { owner } }) => (owner?.kind === "ApplicationSet" ? owner.name : ""));
  const meant = setsMeant(rollout, checkout, inventory).map(({ ref }) => ref.name);
  return [...new Set([...meant, ...made.keys()])].flatMap((name) => {
    const own = new Set(made.get(name)?.map(({ view }) => view.name));
    const ref = setRef(source, name, source.namespace);
    return name === "" ? [] : [{ source: ref, edits: new Map([...edits].filter(([application]) => own.has(application))) }];
  });
}

/** Applications as the repo declares them, and as the inventory holds them. */
function parentsOf(checkout: Checkout, inventory: Inventory | undefined): ParentApplication[] {
  const live = (inventory?.applications ?? []).flatMap(asParent);
  return [...live, ...madeOnce(checkout, declaredIn)];
}

function declaredIn(checkout: RepoFiles): ParentApplication[] {
  const kustomizations = kustomizationsIn(checkout);
  return scanCheckout(checkout).applications.flatMap(({ file, object }) => {
    const patched = takersOf(kustomizations, file).some((folder) => kustomizations.get(folder)?.patches === true);
    return asParent(object).map((one) => ({ ...one, patched }));
  });
}

function asParent(object: unknown): ParentApplication[] {
  const view = decodeApplication(object, 0);
  return view === undefined ? [] : [parentOf(view)];
}
