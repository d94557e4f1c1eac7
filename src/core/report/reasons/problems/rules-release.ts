/** What a rollout says of its release, its pins and the texts of its pull requests that no run could go by. */
import type { TemplateFault } from "../../../base/template.ts";
import type { OutsideFault, ReleaseProblems } from "../../../reasons/problems/rules.ts";
import { problemsOf } from "./entry.ts";

const OF_NO_VALUE = 'the release has no value "{value}"';
const PLACE = "give it file and path, or clusterGenerator, or copy, or branch";

export const RELEASE_PROBLEMS = problemsOf<ReleaseProblems>()({
  RELEASE_KIND: {
    says: {
      kind: {
        None: "release says no version",
        Two: "release has both {first} and {second}",
        NoValues: "release.{field} names no value",
        NoPath: "release.from says the file, and not where in it the version stands",
      },
    },
    hint: {
      kind: {
        None: "set exactly one of {known}",
        Two: "keep exactly one",
        NoValues: "name at least one",
        NoPath: "add path, or paths by name where several values are released together",
      },
    },
    means: "the release says its version not at all, or in two ways",
    todo: "keep exactly one",
  },
  RELEASE_VALUE: {
    says: {
      kind: {
        SamePlace: "the values {value} and {other} of the release stand in one place, so they are one value",
        Unused: 'no pin writes the value "{value}": a change of it alone would start a run that moves nothing',
      },
    },
    hint: {
      kind: {
        SamePlace: "have the pins of both write one of them, or give each a path of its own",
        Unused: ({ value }) => `write it by a pin with value "${releaseValue(value)}", or take it out of the release`,
      },
    },
    means: "two values of one release stand in one place (an error), or no pin writes one of them (a warning)",
    todo: "give each value a place and a pin of its own, or take it out",
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
        Unknown: ({ near, known }) => (near === undefined ? `use one of ${known.join(", ")}` : `did you mean {{ ${near} }}?`),
        TitleLines: "move the rest to body",
        NoValue: ({ near, known }) => nearOrKnown(near, known),
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
        BranchValue: "a pin of a branch or tag has no value",
        FastForward: "fastForward is said of a branch or a tag",
        CopyValue: "a copied directory has no value",
        CreatePart: "create and part do not go together",
      },
    },
    hint: {
      kind: {
        ...{ NoPlace: PLACE, TwoKinds: PLACE, NoFile: PLACE, NoPath: PLACE },
        BranchValue: "remove value: it is moved to the release commit",
        FastForward: "remove fastForward",
        CopyValue: "remove value: the directory is copied as it is",
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
        NoValue: ({ near, known }) => (known.length === 0 ? "use {{ release.version }}" : nearOrKnown(near, known)),
      },
    },
    means: "the pin writes a value that the release does not have",
    todo: "name one that it has",
  },
  DIGEST_BESIDE_TAG: {
    says: {
      kind: {
        Digest: "{beside} of {pinFile} stays at {value}, and a digest wins over the tag that the pin writes: the old image would run on",
        Tag: "{beside} of {pinFile} stays at {value}, beside the digest of another image",
      },
    },
    hint: "write both: release them together as two values, with a pin for each",
    means: "a pin writes an image's tag and leaves the digest beside it, which wins; or the other way round",
    todo: "release both as [values of one release](releases.md#several-values), or take the digest out",
  },
  BRANCH_NEEDS_COMMIT: {
    says: "a branch pin needs delivery.strategy: Commit",
    hint: "set delivery.strategy: Commit",
    means: "a branch is moved, not merged by a PR",
  },
  FILE_OUTSIDE_REPO: {
    says: (r) => `${r.ofPin && r.fault !== "Rules" ? "pin file " : ""}"${r.given}" ${outsideRepo(r.fault)}`,
    hint: (r) => OUTSIDE_HINT[r.fault] ?? "name a file of the config repo, from its root",
    means:
      "a file that is absolute, leaves the repo by `..`, or says how batches run: settings, workflows, CODEOWNERS, rollouts but for `spec.release`",
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
  Rules: "would be replaced as a whole, and is where rules stand by which batches run or are reviewed",
  RulesFile: "holds rules by which batches run or are reviewed, which only people change",
  Steps: 'has an empty or "." step',
};

const OUTSIDE_HINT: Partial<Record<OutsideFault, string>> = {
  Rules: "name another directory",
  RulesFile: "pin a value of what Argo CD deploys; of a rollout only what is below spec.release",
};

/** Why a path names no file of the repo, to stand behind the path. */
function outsideRepo(fault: OutsideFault): string {
  return OUTSIDE[fault];
}

function nearOrKnown(near: string | undefined, known: readonly string[]): string {
  return near === undefined ? `use one that it has: ${known.join(", ")}` : `did you mean ${near}?`;
}

function releaseValue(name = "NAME"): string {
  return `{{ release.values.${name} }}`;
}
