import type { FileProblems } from "../../../reasons/problems/file.ts";
import { KIND, ROLLOUT_API_VERSION } from "../../../spec/schema.ts";
import { didYouMean, problemsOf } from "./entry.ts";
import { SYNTAX_LINES } from "./syntax.ts";

const SURE = "check that this is the file you meant";
const AS_SHOWN = "write it as the reference page shows";
const HEADER = `apiVersion: ${ROLLOUT_API_VERSION} and kind: ${KIND}`;
const NO_ROLLOUT =
  `[did you mean {near}?|write apiVersion: ${ROLLOUT_API_VERSION} where it is one; keep other things out of rollouts/]` as const;
const ONE_OF = "[did you mean {near}? Else ]write one of {known}";
const OR_SETTINGS = "or rollouts.{name} in .github/stagecoach.yaml";
const EMPTY = "[{key}|the document] is empty";
const LARGE = "the file has {kibibytes} KiB; at most {most} KiB are read";
const MARKED = "the file has more than {most} brackets, colons, dashes, quotes and lines";
const SLOW = "reading the file takes too long";
const SPLIT = `split it, or ${SURE}`;
const COUNT = 'write a count such as 2, or a percentage such as "25%"';

/** Files of settings: as YAML, as a resource, and against the schema. */
export const FILE_PROBLEMS = problemsOf<FileProblems>()({
  SYNTAX: {
    ...SYNTAX_LINES,
    means: "not YAML",
    todo: "correct it at the line named",
  },
  DUPLICATE_KEY: { says: "this key appears twice in one map", hint: "remove one of them", means: "a key twice in a map; readers differ" },
  TOO_LARGE: { says: { kind: { Size: LARGE, Marks: MARKED, Slow: SLOW } }, hint: SPLIT, means: "over 256 KiB, or 64 KiB of settings" },
  TOO_DEEP: {
    says: {
      kind: {
        Values: "values are nested more than {most} deep",
        Brackets: "brackets are nested more than 200 deep",
        File: "the file is nested too deep to be read",
      },
    },
    hint: SURE,
    means: "nested deeper than is read",
  },
  ALIAS_BOMB: { says: "aliases (*name) multiply beyond what is read", hint: "write the values out", means: "aliases that multiply" },
  TOO_MANY_DOCUMENTS: { says: "the file has more than {most} documents", hint: SPLIT, means: "too many documents in one file" },
  UNREADABLE: {
    says: "[{name} cannot be read: ]{said}",
    hint: "make it a plain file of at most 10 MiB inside the repo",
    means: "a file that must not be read",
  },
  NOT_A_ROLLOUT: {
    says: {
      kind: {
        ...{ Empty: "the file is empty", Json: "{name} is passed over: rollouts are YAML (.yaml or .yml)" },
        NoVersion: "not a rollout: it has neither apiVersion nor kind",
        NoMap: "not a rollout: a {is}",
        OtherKind: "not a rollout: kind {given}",
        OtherObject: "not a rollout: {given} of {apiVersion}",
        OddVersion: "not a rollout: apiVersion {apiVersion}, [kind {given}|no kind]",
      },
    },
    hint: {
      kind: {
        ...{ Empty: "write a rollout, or remove the file", Json: "rename it to .yaml, which may hold JSON, or move it elsewhere" },
        NoVersion: (r) => `${r.follows ? "remove the --- above it where it belongs to the document before, or else " : ""}write ${HEADER}`,
        NoMap: `write a map with ${HEADER}`,
        OtherKind: ({ apiVersion, known }) => `write kind: ${known.join(" or ")}, which is all that ${apiVersion} has`,
        ...{ OtherObject: NO_ROLLOUT, OddVersion: NO_ROLLOUT },
      },
    },
    means: "a document in `rollouts/` that is something else, or empty",
    todo: "move it elsewhere",
  },
  SEVERAL_DOCUMENTS: {
    says: "the settings are one document",
    hint: "merge the documents into one",
    means: "`.github/stagecoach.yaml` in several documents",
  },
  UNKNOWN_KEY: {
    says: 'unknown key "{key}" [in {where}|at the top]',
    hint: (r) =>
      r.elsewhere === undefined
        ? didYouMean(r.near, r.home === undefined ? `use one of the keys that are known here: ${r.known.join(", ")}` : moveTo(r.home), '"')
        : `change apiVersion to ${r.elsewhere}, which has "${r.key}"`,
    means: "a key that does not exist",
  },
  MISSING_KEY: {
    says: {
      kind: {
        Key: "[{key}|the document] is missing",
        SourceRef: "spec.sourceRef is missing",
        Clusters: ({ stage }) => `spec.stages[${stage}].clusters is missing`,
      },
    },
    hint: {
      kind: {
        Key: "add it; its page in docs/reference has an example",
        SourceRef: "name the ApplicationSet there",
        Clusters: "add clusters.selector; {} selects every cluster",
      },
    },
    means: "a key that must be there",
  },
  NOT_BUILT_YET: {
    says: "delivery.strategy: Commit for a pin in a file is not available in this version",
    hint: "use strategy: PullRequest, or branch pins only",
    means: "in the schema, and not available in this version; never ignored",
  },
  WRONG_TYPE: {
    says: {
      kind: {
        LabelValue: "a label's value is text, not {given}",
        Text: "expected text, not {given}",
        Type: ({ key, wanted = "", given }) =>
          `${key || "the document"} must be ${TYPES[wanted] ?? (wanted || "something else")}, not ${given}`,
      },
    },
    hint: { kind: { LabelValue: "put it in quotes: {quoted}", Text: "put it in quotes: {quoted}", Type: AS_SHOWN } },
    means: "a value of another type",
  },
  BAD_VALUE: {
    says: {
      kind: {
        Choice: "[{key}|the document] cannot be {given}",
        ...{ EmptyList: EMPTY, EmptyText: EMPTY },
        Name: "[{key}|the document] cannot be used as a name",
        Least: "[{key}|the document] is {given}, less than {least}",
        Most: ({ key, most, characters }) => `${key || "the document"} is more than ${most}${characters ? " characters" : ""}`,
        Other: "[{key}|the document]: {said}",
        OneProvider: "provider: a metric has exactly one provider",
        Team: "{given} is not a team's slug",
        Account: "{given} is not an account's name",
      },
    },
    hint: {
      kind: {
        Choice: ONE_OF,
        EmptyList: "write at least one item",
        EmptyText: "write a value, or remove the key",
        Name: "begin with a letter; letters, digits and _ may follow",
        Least: "write {least} or more",
        Most: "write {most} or less",
        ...{ Other: AS_SHOWN, OneProvider: AS_SHOWN },
        Team: "write the slug alone, such as {slug}",
        Account: "write it as GitHub shows it, such as renovate[bot]",
      },
    },
    means: "not one of the values the key may have, or empty, too small, too large",
    todo: "the [reference](reference/progressive-rollout.md) has the values",
  },
  BAD_OPERATOR: {
    says: "[{key}|the document] cannot be {given}",
    hint: ONE_OF,
    means: "not an operator of label selectors",
    todo: "write In, NotIn, Exists or DoesNotExist",
  },
  BAD_DURATION: {
    says: {
      kind: {
        Text: "{given} is not a duration",
        Zero: (r) => `${r.key} is ${r.given}: ${ZERO[r.key]}`,
        NoUnit: "{key} is {given} without a unit: taken as {given}s, and refused by Argo Rollouts' controller",
      },
    },
    hint: {
      kind: {
        Text: "write [its unit, too: {bare}s, {bare}m or {bare}h|a duration such as 90s, 30m or 1h30m]",
        Zero: "write more than 0s, such as 15m",
        NoUnit: "write {given}s",
      },
    },
    means: "not a duration",
    todo: "write a duration such as 90s, 30m or 1h30m",
  },
  BAD_QUANTITY: {
    says: {
      kind: {
        NotWhole: "{given} is not a whole number",
        NotWholePercent: "{given} is not a whole percentage",
        Over100: "{given} is more than 100%",
        Neither: "{given} is neither a count nor a percentage",
        TooSmall: "{given} is less than {least}",
        TooLarge: "{given} is more than {most}, the largest count there is",
        Quoted: "{given} is text, not a count",
        NeverGrows: "a factor of {factor} never grows",
        StartAboveMax: "start is {start}, above max, which is {max}",
      },
    },
    hint: {
      kind: {
        ...{ NotWhole: COUNT, NotWholePercent: COUNT, Neither: COUNT, TooSmall: COUNT },
        Over100: "write 100% for all of them",
        TooLarge: "write 100% for all of them",
        Quoted: (r) => `write ${r.bare} without quotes${r.percent ? `, or ${r.bare}%` : ""}`,
        NeverGrows: "write a factor above 1, such as 2, or maxUnavailable: {start}",
        StartAboveMax: "write a start of at most {max}, or raise max",
      },
    },
    means: "neither a count from 1 nor a percentage up to 100",
  },
  SAME_KEY_TWICE: { says: "{ours} and {theirs} mean the same", hint: "keep one", means: "two keys of an old resource that mean the same" },
  SAID_TWICE: {
    says: "{key} is set here and in {also}",
    hint: "keep one of the two",
    means: "stands in the resource and in `.github/stagecoach.yaml`",
  },
  UNKNOWN_ROLLOUT: {
    says: 'no rollout is called "{name}"',
    hint: ({ near, known }) =>
      didYouMean(near, `remove this entry, or add the rollout; rollouts/ declares ${known.join(", ") || "none"}`, '"'),
    means: "`.github/stagecoach.yaml` has settings of a rollout that no file declares",
    todo: "correct the name, or remove the entry",
    warns: true,
  },
  CANNOT_RUN: {
    says: (r) => `rollout ${r.name} can be planned but not run: it has no ${r.lacks.map((one) => LACKING[one]).join(" and no ")}`,
    hint: {
      ancestor: {
        true: `say it in annotations stagecoach.dev/release and stagecoach.dev/pins, ${OR_SETTINGS}`,
        false: `say it in spec.release and spec.pins, ${OR_SETTINGS}`,
      },
    },
    means: "no release or no pins: it can be planned, not run",
    warns: true,
  },
});

const ZERO = {
  seenDeadline: "every run would pause at its first look",
  waitingDeadline: "every run would pause at once where something waits",
  progressDeadline: "every cluster would fail as soon as it is seen",
};

const LACKING = { release: "release (which version)", pins: "pins (where it is written)" };

/** What the schema calls types, and people do not. */
const TYPES: Record<string, string> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "a map",
  record: "a map",
  array: "a list",
};

function moveTo(home: string): string {
  if (home.endsWith("[]")) return `move it to those of ${home.slice(0, -2)} that it is for`;
  return `move it to ${home === "" ? "the top" : home}`;
}
