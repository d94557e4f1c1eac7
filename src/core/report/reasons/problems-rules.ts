import type { TemplateFault } from "../../base/template.ts";
import type { ProblemData } from "../../reasons/problem.ts";
import type { OutsideFault, RuleProblems } from "../../reasons/problems-rules.ts";
import { isSeveral, sourcePhrase } from "./phrases.ts";
import { didYouMean, type ProblemEntries } from "./problem-entry.ts";

/** Rollouts whose schema is kept, and that no run could go by. */
export const RULE_PROBLEMS: ProblemEntries<RuleProblems> = {
  BAD_NAME: {
    says: (r) => `"${r.given}" cannot be the name of a rollout`,
    hint: "lower-case letters, digits and -, as names in Kubernetes",
  },
  DUPLICATE_STAGE: {
    says: (r) => `stage "${r.stage}" is there twice: it is stage ${r.first} already`,
    hint: "give each stage a name of its own",
  },
  STAGE_SHADOWED: {
    says: (r) => `stage "${r.stage}" never gets a cluster: "${r.taker}" takes all of ${r.selector}`,
    hint: "put the narrower stage first, or limit the earlier one by maxClusters",
  },
  ORDER_KEY: {
    says: (r) => (r.kind === "Missing" ? "order by label does not say which label" : "order by name has no key"),
    hint: (r) => (r.kind === "Missing" ? "add key" : "write by: label, or remove key"),
  },
  TOPOLOGY_KEY: {
    says: (r) => `topologyKey is "${r.outer}" and clusters.topologyKey "${r.inner}"`,
    hint: "they mean the same; keep one",
  },
  SOURCE_REF: { says: sourceRef, hint: sourceRefHint },
  BAD_LABEL: {
    says: (r) => `${r.given} cannot be the ${r.kind === "Key" ? "key" : "value"} of a label`,
    hint: (r) =>
      `letters, digits, - _ . up to 63 of them${r.kind === "Key" ? ", perhaps after a DNS prefix and /" : "; no label can ever have this one"}`,
  },
  SELECTOR_VALUES: {
    says: (r) => {
      if (!takesValues(r.operator)) return `${r.operator} takes no values`;
      return `${r.operator} without values ${r.operator === "In" ? "matches nothing" : "is refused by Kubernetes"}`;
    },
    hint: (r) =>
      takesValues(r.operator)
        ? "list at least one value, or use Exists or DoesNotExist"
        : `remove values, or use ${r.operator === "Exists" ? "In" : "NotIn"}`,
  },
  SELECTOR_NEVER_MATCHES: {
    says: (r) => `what is asked of label "${r.label}" cannot hold at once, so no cluster matches`,
    hint: "correct one of the requirements on this label",
  },
  RELEASE_KIND: {
    says: (r) => {
      if (r.kind === "Two") return `release has both ${r.first} and ${r.second}`;
      return r.kind === "None" ? "release says no version" : "release.values names no value";
    },
    hint: (r) => {
      if (r.kind === "Two") return "keep exactly one";
      return r.kind === "None" ? `set exactly one of ${r.known.join(", ")}` : "name at least one";
    },
  },
  BAD_GLOB: {
    says: (r) => `"${r.given}" ${GLOB[r.fault]}`,
    hint: "name paths from the repo's root, such as apps/payments/**",
  },
  BAD_RANGE: {
    says: (r) => `"${r.given}" is no semver range`,
    hint: 'write one such as ">=1.0.0 <2" or "^1.4"; what stands before the version in the tag goes into prefix',
  },
  COMMIT_PATHS: {
    says: (r) => `release.commit.paths match the pin file ${r.pinFile}, so every batch would be a release`,
    hint: (r) => `take it out of the paths, such as by "!${r.glob}"`,
  },
  BAD_TEMPLATE: {
    says: (r) => {
      if (r.kind === "TitleLines") return "a title is one line";
      return r.kind === "NoValue" ? `the release has no value "${r.value}"` : templateFault(r);
    },
    hint: (r) => {
      if (r.kind === "Open") return 'close it with "}}"';
      if (r.kind === "TitleLines") return "move the rest to body";
      return `${r.kind === "NoValue" ? "it has" : "known:"} ${r.known.join(", ")}`;
    },
  },
  PIN_KIND: {
    says: (r) => PIN_KINDS[r.kind],
    hint: (r) => {
      if (r.kind === "BranchValue") return "remove value: the branch is moved to the release commit";
      if (r.kind === "CreatePart") return "a part needs a value to be part of; remove one";
      return "a pin has file and path, or clusterGenerator, or branch";
    },
  },
  PIN_VALUE: {
    says: (r) => {
      if (r.kind === "NoValue") return `the release has no value "${r.value}"`;
      if (r.kind === "NoVersion") return "the release has values by name, no version";
      return "this pin writes {{ release.version }}, but the release has values by name";
    },
    hint: (r) => {
      if (r.kind === "NoValue") return r.known.length === 0 ? "use {{ release.version }}" : `the release has ${r.known.join(", ")}`;
      const value = `{{ release.values.${r.first ?? "NAME"} }}`;
      return r.kind === "NoVersion" ? `use ${value}` : `set value, such as "${value}"`;
    },
  },
  BRANCH_NEEDS_COMMIT: {
    says: () => "a branch pin needs delivery.strategy: Commit",
    hint: "set delivery.strategy: Commit; a branch is moved, not merged by a pull request",
  },
  FILE_OUTSIDE_REPO: {
    says: (r) => `${r.ofPin ? "pin file " : ""}"${r.given}" ${outsideRepo(r.fault)}`,
    hint: "name a file of the config repo, from its root",
  },
  DUPLICATE_ROLLOUT: { says: (r) => `rollout "${r.name}" is also in ${r.also}`, hint: "give each rollout a name of its own" },
  SOURCE_SHARED: {
    says: (r) => `${sharedWhat(r)} rollout "${r.owner}" (${r.ownerFile}) already`,
    hint: (r) =>
      r.kind === "Source"
        ? `one ${r.source.kind} may belong to one rollout only; remove one of the two`
        : "let each Application, and each place that a version is written to, belong to one rollout only",
  },
  UNKNOWN_DEPENDENCY: {
    says: (r) =>
      r.kind === "Broken"
        ? `rollout "${r.name}" has errors of its own, so nothing can wait for it`
        : `there is no rollout "${r.name}" in this repo`,
    hint: (r) => (r.kind === "Broken" ? `correct ${r.brokenFile} first` : didYouMean(r.near, "name a rollout of this repo")),
  },
  DEPENDENCY_CYCLE: { says: (r) => `dependsOn goes round in a circle: ${r.circle.join(" → ")}`, hint: "take one of them out" },
};

/** Why a text is no template. */
export function templateFault(fault: TemplateFault): string {
  return fault.kind === "Open" ? `"{{" without "}}" in "${fault.template}"` : `unknown variable {{ ${fault.variable} }}`;
}

const OUTSIDE: Record<OutsideFault, string> = {
  Empty: "is empty",
  Absolute: "is absolute",
  Backslash: "has a backslash",
  Nul: "has a NUL character",
  Dots: 'leads out of the repo by ".."',
  Git: "is inside .git",
  Steps: 'has an empty or "." step',
};

/** Why a path names no file of the repo, to stand behind the path. */
export function outsideRepo(fault: OutsideFault): string {
  return OUTSIDE[fault];
}

function takesValues(operator: string): boolean {
  return operator === "In" || operator === "NotIn";
}

function sourceRef(r: ProblemData<"SOURCE_REF">): string {
  if (r.kind === "NoPlane") return `there are ${r.known.length} control planes and sourceRef.controlPlane names none`;
  if (r.kind === "Group") return `apiGroup cannot be "${r.given}"`;
  if (r.kind === "NoName") return "sourceRef names no ApplicationSet";
  return r.kind === "NoSelector" ? "sourceRef says not which Applications" : "selector is for kind Application";
}

function sourceRefHint(r: ProblemData<"SOURCE_REF">): string {
  if (r.kind === "NoPlane") return `name one of ${r.known.join(", ")}`;
  if (r.kind === "Group") return "write argoproj.io/v1alpha1";
  if (r.kind === "NoName") return "add name";
  return r.kind === "NoSelector" ? "add a selector over their labels" : "remove it: every Application of the ApplicationSet is a target";
}

function sharedWhat(r: ProblemData<"SOURCE_SHARED">): string {
  if (r.kind === "Source") return `${sourcePhrase(r.source)} ${isSeveral(r.source) ? "belong" : "belongs"} to`;
  return r.kind === "Application" ? `Application ${r.what} belongs to` : `${r.what} is written by`;
}

const GLOB: Record<ProblemData<"BAD_GLOB">["fault"], string> = {
  Empty: "is empty",
  TooLong: "is longer than 1000 characters",
  Slash: "begins with a slash; paths are from the repo's root without one",
  Dots: 'leads out of the repo by ".."',
};

const PIN_KINDS: Record<ProblemData<"PIN_KIND">["kind"], string> = {
  NoPlace: "the pin names no place",
  TwoKinds: "the pin is of two kinds at once",
  NoFile: "the pin has no file",
  NoPath: "the pin has no path",
  BranchValue: "a branch pin has no value",
  CreatePart: "create and part do not go together",
};
