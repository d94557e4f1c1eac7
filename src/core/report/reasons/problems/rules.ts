import type { TemplateFault } from "../../../base/template.ts";
import type { OutsideFault, RuleProblems } from "../../../reasons/problems-rules.ts";
import { isSeveral, sourcePhrase } from "../phrases.ts";
import { problemsOf } from "./entry.ts";

const LABEL_CHARACTERS = "use letters, digits, - _ . and at most 63 of them";
const VALUES = "list at least one value, or use Exists or DoesNotExist";
const SEVERAL_OWNERS = "let each Application, and each place that a version is written to, belong to one rollout only";
const OF_NO_VALUE = 'the release has no value "{value}"';
const PLACE = "give it file and path, or clusterGenerator, or branch";

/** Rollouts whose schema is kept, and that no run could go by. */
export const RULE_PROBLEMS = problemsOf<RuleProblems>()({
  BAD_NAME: {
    says: '"{given}" cannot be the name of a rollout',
    hint: "use lower-case letters, digits and - alone, as names in Kubernetes do",
    means: "not a name as Kubernetes has them",
  },
  DUPLICATE_STAGE: {
    says: 'stage "{stage}" appears twice: it is stage {first} already',
    hint: "give each stage a name of its own",
    means: "two stages of one name",
  },
  STAGE_SHADOWED: {
    says: 'stage "{stage}" never gets a cluster: "{taker}" takes all of {selector}',
    hint: "put the narrower stage first, or limit the earlier one by maxClusters",
    means: "an earlier stage takes all its clusters",
    warns: true,
  },
  ORDER_KEY: {
    says: { kind: { Missing: "order by label does not say which label", Needless: "order by name has no key" } },
    hint: { kind: { Missing: "add key", Needless: "write by: label, or remove key" } },
    means: "`order.by: label` without a key, or `by: name` with one",
    todo: "add or remove `key`",
  },
  TOPOLOGY_KEY: {
    says: 'topologyKey is "{outer}" and clusters.topologyKey "{inner}"',
    hint: "keep one: they mean the same",
    means: "`topologyKey` said twice, and differently",
  },
  SOURCE_REF: {
    says: {
      kind: {
        NoName: "sourceRef names no ApplicationSet",
        SelectorOfSet: "selector is for kind Application",
        NoSelector: "sourceRef does not say which Applications it means",
        Group: 'apiGroup cannot be "{given}"',
        NoPlane: ({ known }) => `there are ${known.length} control planes and sourceRef.controlPlane names none`,
      },
    },
    hint: {
      kind: {
        NoName: "add name",
        SelectorOfSet: "remove it: every Application of the ApplicationSet is a target",
        NoSelector: "add a selector over their labels",
        Group: "write argoproj.io/v1alpha1",
        NoPlane: "name one of {known}",
      },
    },
    means: "a source that is incomplete or contradicts itself",
    todo: "add what is missing, or take out what contradicts; the hint names it",
  },
  BAD_LABEL: {
    says: { kind: { Key: "{given} cannot be the key of a label", Value: "{given} cannot be the value of a label" } },
    hint: {
      kind: {
        Key: `${LABEL_CHARACTERS}, after a DNS prefix and / where you want one`,
        Value: `${LABEL_CHARACTERS}; no label can ever have this one`,
      },
    },
    means: "no label can have this key or value",
  },
  SELECTOR_VALUES: {
    says: {
      operator: {
        In: "In without values matches nothing",
        NotIn: "NotIn without values is refused by Kubernetes",
        Exists: "Exists takes no values",
        DoesNotExist: "DoesNotExist takes no values",
      },
    },
    hint: { operator: { In: VALUES, NotIn: VALUES, Exists: "remove values, or use In", DoesNotExist: "remove values, or use NotIn" } },
    means: "`In` or `NotIn` without values, `Exists` or `DoesNotExist` with some",
    todo: "list values, or change the operator",
  },
  SELECTOR_NEVER_MATCHES: {
    says: 'what is asked of label "{label}" cannot hold at once, so no cluster matches',
    hint: "correct one of the requirements on this label",
    means: "requirements on one label that cannot hold at once",
  },
  RELEASE_KIND: {
    says: {
      kind: { None: "release says no version", Two: "release has both {first} and {second}", NoValues: "release.values names no value" },
    },
    hint: { kind: { None: "set exactly one of {known}", Two: "keep exactly one", NoValues: "name at least one" } },
    means: "the release says its version not at all, or in two ways",
    todo: "keep exactly one",
  },
  BAD_GLOB: {
    says: {
      fault: {
        Empty: '"{given}" is empty',
        TooLong: '"{given}" is longer than 1000 characters',
        Slash: '"{given}" begins with a slash; paths are from the repo\'s root without one',
        Dots: '"{given}" leads out of the repo by ".."',
      },
    },
    hint: "name paths from the repo's root, such as apps/payments/**",
    means: "not a glob over paths of the repo",
    todo: "name paths from the repo's root, such as `apps/payments/**`; see [releases](releases.md#a-merge-commit)",
  },
  BAD_RANGE: {
    says: '"{given}" is not a semver range',
    hint: 'write one such as ">=1.0.0 <2" or "^1.4"; what stands before the version in the tag goes into prefix',
    means: "not a semver range",
  },
  COMMIT_PATHS: {
    says: "release.commit.paths match the pin file {pinFile}, so every batch would be a release",
    hint: 'take it out of the paths, such as by "!{glob}"',
    means: "the paths that make a merge a release hold a file that batches write: every batch would be a release",
  },
  BAD_TEMPLATE: {
    says: { kind: { Open: templateFault, Unknown: templateFault, TitleLines: "a title is one line", NoValue: OF_NO_VALUE } },
    hint: {
      kind: {
        Open: 'close it with "}}"',
        Unknown: "use one of {known}",
        TitleLines: "move the rest to body",
        NoValue: "use one that it has: {known}",
      },
    },
    means: "a variable that does not exist, or `{{` without `}}`",
    todo: "use one of the [variables](reference/progressive-rollout.md#templates)",
  },
  PIN_KIND: {
    says: {
      kind: {
        NoPlace: "the pin names no place",
        TwoKinds: "the pin is of two kinds at once",
        NoFile: "the pin has no file",
        NoPath: "the pin has no path",
        BranchValue: "a branch pin has no value",
        CreatePart: "create and part do not go together",
      },
    },
    hint: {
      kind: {
        ...{ NoPlace: PLACE, TwoKinds: PLACE, NoFile: PLACE, NoPath: PLACE },
        BranchValue: "remove value: the branch is moved to the release commit",
        CreatePart: "remove one of them: a part needs a value to be part of",
      },
    },
    means: "a pin of no kind, of two, or incomplete",
  },
  PIN_VALUE: {
    says: {
      kind: {
        Default: "this pin writes {{ release.version }}, but the release has values by name",
        NoVersion: "the release has values by name, no version",
        NoValue: OF_NO_VALUE,
      },
    },
    hint: {
      kind: {
        Default: ({ first }) => `set value, such as "${releaseValue(first)}"`,
        NoVersion: ({ first }) => `use ${releaseValue(first)}`,
        NoValue: ({ known }) => (known.length === 0 ? "use {{ release.version }}" : `use one that it has: ${known.join(", ")}`),
      },
    },
    means: "the pin writes a value that the release does not have",
    todo: "name one that it has",
  },
  BRANCH_NEEDS_COMMIT: {
    says: "a branch pin needs delivery.strategy: Commit",
    hint: "set delivery.strategy: Commit",
    means: "a branch is moved, not merged by a PR",
  },
  FILE_OUTSIDE_REPO: {
    says: (r) => `${r.ofPin ? "pin file " : ""}"${r.given}" ${outsideRepo(r.fault)}`,
    hint: "name a file of the config repo, from its root",
    means: "a file that is absolute, or leaves the repo by `..`",
  },
  DUPLICATE_ROLLOUT: {
    says: 'rollout "{name}" is also in {also}',
    hint: "give each rollout a name of its own",
    means: "two rollouts of one name",
  },
  SOURCE_SHARED: {
    says: {
      kind: {
        Source: ({ source, owner, ownerFile }) =>
          `${sourcePhrase(source)} ${isSeveral(source) ? "belong" : "belongs"} to rollout "${owner}" (${ownerFile}) already`,
        Application: 'Application {what} belongs to rollout "{owner}" ({ownerFile}) already',
        Place: '{what} is written by rollout "{owner}" ({ownerFile}) already',
      },
    },
    hint: {
      kind: {
        Source: ({ source }) => `remove one of the two: one ${source.kind} may belong to one rollout only`,
        Application: SEVERAL_OWNERS,
        Place: SEVERAL_OWNERS,
      },
    },
    means: "two rollouts of one ApplicationSet, or of the same Applications, would undo each other's batches",
    todo: "remove one",
  },
  UNKNOWN_DEPENDENCY: {
    says: {
      kind: {
        Broken: 'rollout "{name}" has errors of its own, so nothing can wait for it',
        Unknown: 'there is no rollout "{name}" in this repo',
      },
    },
    hint: { kind: { Broken: "correct {brokenFile} first", Unknown: "[did you mean {near}?|name a rollout of this repo]" } },
    means: "`dependsOn` names a rollout that the repo does not have",
    todo: "correct the name",
  },
  DEPENDENCY_CYCLE: {
    says: (r) => `dependsOn goes in a circle: ${r.circle.join(" → ")}`,
    hint: "take one of them out",
    means: "rollouts that wait for each other in a circle would wait for ever",
  },
});

/** Why a text is no template. */
function templateFault(fault: TemplateFault): string {
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
function outsideRepo(fault: OutsideFault): string {
  return OUTSIDE[fault];
}

function releaseValue(name = "NAME"): string {
  return `{{ release.values.${name} }}`;
}
