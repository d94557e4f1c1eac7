import type { RuleProblems } from "../../../reasons/problems/rules.ts";
import { isSeveral, sourcePhrase } from "../phrases.ts";
import { problemsOf } from "./entry.ts";

const LABEL_CHARACTERS = "use letters, digits, - _ . and at most 63 of them";
const VALUES = "list at least one value, or use Exists or DoesNotExist";
const SEVERAL_OWNERS = "let each Application, and each place that a version is written to, belong to one rollout only";

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
        SaidTwice: "sourceRef has {first} and {second}",
        NamesOfApplications: "names is for kind ApplicationSet",
        NoSelector: "sourceRef does not say which Applications it means",
        Group: 'apiGroup cannot be "{given}"',
        NoPlane: ({ known }) => `there are ${known.length} control planes and sourceRef.controlPlane names none`,
      },
    },
    hint: {
      kind: {
        NoName: "add name, names, or a selector over the labels of sets",
        SaidTwice: "keep one: {first} or {second} says which ApplicationSets are meant",
        NamesOfApplications: "add a selector over the labels of the Applications, or name their sets with kind: ApplicationSet",
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
  DEPENDENCY_VALUE: {
    says: {
      kind: {
        Same: 'rollout "{name}" releases {known}, and this one {own}: no value of the two has one name',
        AtLeast: 'rollout "{name}" releases {known} together: none of them is called version, so none can be compared with atLeast',
      },
    },
    hint: { kind: { Same: "give a value that is to be the same one name in both", AtLeast: "name the value that is meant version" } },
    means: "`dependsOn` compares values by name, and there is none to compare",
    todo: "give the value that is meant one name in both rollouts",
  },
  DEPENDENCY_STAGES: {
    says: 'no stage is called as one of "{rollout}" ({known}): each batch waits for all that it has on the clusters, whatever the environment',
    hint: "[rename {stage} to {near}, as there|give stages of one environment one name in both]",
    means: "environments share clusters, and `dependsOn` tells them apart by the names of stages",
    warns: true,
  },
  DEPENDENCY_CYCLE: {
    says: (r) => `dependsOn goes in a circle: ${r.circle.join(" → ")}`,
    hint: "take one of them out",
    means: "rollouts that wait for each other in a circle would wait for ever",
  },
});
