import type { FileProblems } from "../../reasons/problems-file.ts";
import type { Help } from "./problem-entry.ts";

/** Files of settings: why each code is told, and what to do. */
export const FILE_HELP: { readonly [Code in keyof FileProblems]: Help } = {
  SYNTAX: { means: "not YAML", todo: "mend it at the line named" },
  DUPLICATE_KEY: { means: "a key twice in one map; readers disagree which counts", todo: "remove one" },
  TOO_LARGE: { means: "over 1 MiB", todo: "split it" },
  TOO_DEEP: { means: "nested deeper than is read", todo: "is this the file you meant?" },
  ALIAS_BOMB: { means: "aliases multiply beyond what is read", todo: "write the values out" },
  UNREADABLE: { means: "a file that must not be read", todo: "a plain file inside the repo" },
  NOT_A_ROLLOUT: { means: "a document in `rollouts/` that is something else, or empty", todo: "move it elsewhere" },
  SEVERAL_DOCUMENTS: { means: "`.github/stagecoach.yaml` in several documents", todo: "merge them" },
  UNKNOWN_KEY: { means: "a key that does not exist", todo: "did you mean the one it names?" },
  MISSING_KEY: { means: "a key that must be there", todo: "add it" },
  NOT_BUILT_YET: {
    means: "in the schema, and not available in this version; never ignored",
    todo: "`strategy: PullRequest`, or branch pins only",
  },
  WRONG_TYPE: { means: "a value of another type", todo: "write it as the reference shows" },
  BAD_VALUE: {
    means: "not one of the values the key may have, or empty, too small, too large",
    todo: "the [reference](reference/progressive-rollout.md) has the values",
  },
  BAD_OPERATOR: { means: "not an operator of label selectors", todo: "`In`, `NotIn`, `Exists` or `DoesNotExist`" },
  BAD_DURATION: { means: "not a duration", todo: "say of what: `10s`, `10m`, `1h30m`" },
  BAD_QUANTITY: { means: "neither a count from 1 nor a percentage up to 100", todo: 'write a count such as `2`, or `"25%"`' },
  SAME_KEY_TWICE: { means: "two keys of an old resource that mean the same", todo: "keep one" },
  SAID_TWICE: { means: "stands in the resource and in `.github/stagecoach.yaml`", todo: "keep one" },
  UNKNOWN_ROLLOUT: {
    means: "`.github/stagecoach.yaml` has settings of a rollout that no file declares",
    todo: "correct the name, or remove the entry",
    warns: true,
  },
  CANNOT_RUN: {
    means: "no release or no pins: it can be planned, not run",
    todo: "add what is missing when you want it to run",
    warns: true,
  },
};
