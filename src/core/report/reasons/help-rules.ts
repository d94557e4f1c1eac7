import type { PaceProblems } from "../../reasons/problems-pace.ts";
import type { RuleProblems } from "../../reasons/problems-rules.ts";
import type { Help } from "./problem-entry.ts";

/** Rules of a rollout: why each code is told, and what to do. */
export const RULES_HELP: { readonly [Code in keyof (RuleProblems & PaceProblems)]: Help } = {
  BAD_NAME: { means: "not a name as Kubernetes has them", todo: "lower-case letters, digits and `-`" },
  DUPLICATE_STAGE: { means: "two stages of one name", todo: "rename one" },
  STAGE_SHADOWED: { means: "an earlier stage takes all its clusters", todo: "put the narrower stage first", warns: true },
  ORDER_KEY: { means: "`order.by: label` without a key, or `by: name` with one", todo: "add or remove `key`" },
  TOPOLOGY_KEY: { means: "`topologyKey` said twice, and differently", todo: "keep one" },
  SOURCE_REF: { means: "a source that is incomplete or contradicts itself", todo: "as the hint says" },
  BAD_LABEL: { means: "no label can have this key or value", todo: "correct it: such a selector never matches" },
  SELECTOR_VALUES: {
    means: "`In` or `NotIn` without values, `Exists` or `DoesNotExist` with some",
    todo: "list values, or change the operator",
  },
  SELECTOR_NEVER_MATCHES: { means: "requirements on one label that cannot hold at once", todo: "correct one of them" },
  RELEASE_KIND: { means: "the release says its version not at all, or in two ways", todo: "keep exactly one" },
  BAD_GLOB: { means: "not a glob over paths of the repo", todo: "`apps/payments/**`; see [releases](releases.md#a-merge-commit)" },
  BAD_RANGE: { means: "not a semver range", todo: "`^1.4`, `>=1.0.0 <2`; what stands before the version in the tag goes into `prefix`" },
  COMMIT_PATHS: {
    means: "the paths that make a merge a release hold a file that batches write: every batch would be a release",
    todo: "take the file out of the paths, by a narrower glob or by `!FILE`",
  },
  BAD_TEMPLATE: {
    means: "a variable that does not exist, or `{{` without `}}`",
    todo: "the [variables](reference/progressive-rollout.md#templates)",
  },
  PIN_KIND: { means: "a pin of no kind, of two, or incomplete", todo: "`file` and `path`, or `clusterGenerator`, or `branch`" },
  PIN_VALUE: { means: "the pin writes a value that the release does not have", todo: "name one that it has" },
  BRANCH_NEEDS_COMMIT: { means: "a branch is moved, not merged by a PR", todo: "set `delivery.strategy: Commit`" },
  FILE_OUTSIDE_REPO: { means: "a file that is absolute, or leaves the repo by `..`", todo: "name it from the repo's root" },
  BAD_WINDOW: { means: "a window whose schedule or time zone cannot be read", todo: "correct it, such as `0 9 * * 1-5`, `Europe/Rome`" },
  WINDOW_NEVER_OPENS: {
    means: "windows under which nothing would ever merge, by themselves or with the freezes of the settings; on a release PR a warning",
    todo: "check the days of `allow`, and whether a `deny` covers them all",
  },
  LONG_BAKE: { means: "a bake of more than 30 days", todo: "check its unit", warns: true },
  HOOK_URL: {
    means: "a hook without an http or https address, or with a name and password in it",
    todo: "write it whole: `https://hooks.example.com/rollouts`",
  },
  HOOK_TIMEOUT: {
    means: "a hook that may take longer than 60 s, or no time at all",
    todo: "at most `60s`; a hook that needs longer [answers `hold`](hooks.md#the-answer)",
  },
  STEP_KIND: { means: "an entry of `steps` that is none, or two at once", todo: "exactly one of `setWeight`, `pause`, `analysis`" },
  STEP_WEIGHT: {
    means: "weights that do not grow, none at all, or a wait before the first",
    todo: "begin with `setWeight`, and let each be more than the one before; [steps](steps.md)",
  },
  STEPS_BATCHING: {
    means: "`steps` where a batch does not travel as one, or not in files",
    todo: "`batching: Fixed`, `delivery.strategy: PullRequest`",
  },
  WEIGHT_PINS: {
    means:
      "`steps` without `weightPins`, or the other way round; a weight pin that says nothing of the step, or takes the place of a version",
    todo: "[steps](steps.md#where-the-weight-is-written)",
  },
  DUPLICATE_ROLLOUT: { means: "two rollouts of one name", todo: "rename one" },
  SOURCE_SHARED: {
    means: "two rollouts of one ApplicationSet, or of the same Applications, would undo each other's batches",
    todo: "remove one",
  },
  UNKNOWN_DEPENDENCY: { means: "`dependsOn` names a rollout that the repo does not have", todo: "correct the name" },
  DEPENDENCY_CYCLE: { means: "rollouts that wait for each other in a circle would wait for ever", todo: "take one of them out" },
};
