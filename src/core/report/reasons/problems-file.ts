import type { ProblemData } from "../../reasons/problem.ts";
import type { FileProblems } from "../../reasons/problems-file.ts";
import { API_VERSION, KIND } from "../../spec/schema.ts";
import { didYouMean, type ProblemEntries } from "./problem-entry.ts";

const SURE = "check that this is the file you meant";
const AS_SHOWN = "write it as the reference page shows";

/** Files of settings: as YAML, as a resource, and against the schema. */
export const FILE_PROBLEMS: ProblemEntries<FileProblems> = {
  SYNTAX: {
    says: (r) => (r.kind === "Alias" ? r.said : `not valid YAML: ${r.said}`),
    hint: (r) => {
      if (r.kind === "Alias") return "define the anchor (&name) before its alias";
      return r.template ? "put {{ … }} in quotes; a Helm template is no rollout" : "correct the syntax at this place";
    },
  },
  DUPLICATE_KEY: { says: () => "this key stands twice in one map", hint: "remove one of the two" },
  TOO_LARGE: { says: (r) => `the file has ${r.mebibytes} MiB; at most 1 MiB is read`, hint: `split it, or ${SURE}` },
  TOO_DEEP: {
    says: (r) => {
      if (r.kind === "Values") return `values are nested more than ${r.most} deep`;
      return r.kind === "Brackets" ? "brackets are nested more than 200 deep" : "the file is nested too deep to be read";
    },
    hint: SURE,
  },
  ALIAS_BOMB: { says: () => "aliases (*name) multiply beyond what is read", hint: "write the values out" },
  UNREADABLE: {
    says: (r) => (r.name === undefined ? r.said : `${r.name} cannot be read: ${r.said}`),
    hint: "it must be a plain file of at most 10 MiB inside the repo",
  },
  NOT_A_ROLLOUT: {
    says: (r) => (r.kind === "Empty" ? "the file is empty" : `not a rollout: ${whatElse(r)}`),
    hint: (r) => {
      if (r.kind === "Empty") return "write a rollout, or remove the file";
      if (r.kind === "NoMap") return `a rollout is a map with apiVersion: ${API_VERSION} and kind: ${KIND}`;
      if (r.kind === "NoVersion") return `a rollout has apiVersion: ${API_VERSION} and kind: ${KIND}`;
      if (r.kind === "OtherKind") return `${r.apiVersion} has ${r.known.length === 1 ? "only " : ""}${r.known.join(" and ")}`;
      return didYouMean(r.near, `a rollout has apiVersion: ${API_VERSION}; keep other things out of rollouts/`);
    },
  },
  SEVERAL_DOCUMENTS: { says: () => "the settings are one document", hint: "merge the documents into one" },
  UNKNOWN_KEY: {
    says: (r) => `unknown key "${r.key}" ${r.where === "" ? "at the top" : `in ${r.where}`}`,
    hint: (r) =>
      r.elsewhere === undefined
        ? didYouMean(r.near, `known keys here: ${r.known.join(", ")}`, '"')
        : `${r.elsewhere} has "${r.key}": change apiVersion to it to use it`,
  },
  MISSING_KEY: {
    says: (r) => {
      if (r.kind === "Key") return `${named(r.key)} is missing`;
      return r.kind === "SourceRef" ? "spec.sourceRef is missing" : `spec.stages[${r.stage}].clusters is missing`;
    },
    hint: (r) => {
      if (r.kind === "Key") return "add it; the reference page has an example";
      return r.kind === "SourceRef" ? "name the ApplicationSet there" : "add clusters.selector; {} selects every cluster";
    },
  },
  NOT_BUILT_YET: {
    says: () => "delivery.strategy: Commit for a pin in a file is not available in this version",
    hint: () => "use strategy: PullRequest, or branch pins only",
  },
  WRONG_TYPE: {
    says: (r) => {
      if (r.kind === "LabelValue") return `a label's value is text, not ${r.given}`;
      if (r.kind === "Text") return `expected text, not ${r.given}`;
      return `${named(r.key)} must be ${r.wanted === undefined ? "something else" : (TYPES[r.wanted] ?? r.wanted)}, not ${r.given}`;
    },
    hint: (r) => (r.kind === "Type" ? AS_SHOWN : `put it in quotes: ${r.quoted}`),
  },
  BAD_VALUE: { says: badValue, hint: badValueHint },
  BAD_OPERATOR: { says: (r) => `${named(r.key)} cannot be ${r.given}`, hint: oneOf },
  BAD_DURATION: {
    says: (r) => {
      if (r.kind === "Text") return `${r.given} is not a duration`;
      if (r.kind === "Zero") return `${r.key} is ${r.given}: ${ZERO[r.key]}`;
      return `${r.key} is ${r.given} without a unit: taken as ${r.given}s, and refused by Argo Rollouts' controller`;
    },
    hint: (r) => {
      if (r.kind === "Zero") return "write more than 0s, such as 15m";
      if (r.kind === "NoUnit") return `write ${r.given}s`;
      return r.bare === undefined ? "write a duration such as 90s, 30m or 1h30m" : `say of what: ${r.bare}s, ${r.bare}m or ${r.bare}h`;
    },
  },
  BAD_QUANTITY: { says: badQuantity, hint: badQuantityHint },
  SAME_KEY_TWICE: { says: (r) => `${r.ours} and ${r.theirs} mean the same`, hint: "keep one" },
  SAID_TWICE: { says: (r) => `${r.key} stands here and in ${r.also}`, hint: "keep one of the two" },
  UNKNOWN_ROLLOUT: {
    says: (r) => `no rollout is called "${r.name}"`,
    hint: (r) => {
      const known = r.known.length === 0 ? "rollouts/ declares none" : `rollouts/ declares ${r.known.join(", ")}`;
      return didYouMean(r.near, `${known}; remove this entry, or add the rollout`, '"');
    },
  },
  CANNOT_RUN: {
    says: (r) => `rollout ${r.name} can be planned but not run: it has no ${r.lacks.map((one) => LACKING[one]).join(" and no ")}`,
    hint: (r) => {
      const where = r.ancestor ? "annotations stagecoach.dev/release and stagecoach.dev/pins" : "spec.release and spec.pins";
      return `say it in ${where}, or rollouts.${r.name} in .github/stagecoach.yaml`;
    },
  },
};

function named(key: string): string {
  return key === "" ? "the document" : key;
}

function whatElse(r: Exclude<ProblemData<"NOT_A_ROLLOUT">, { kind: "Empty" }>): string {
  if (r.kind === "NoMap") return `a ${r.is}`;
  if (r.kind === "OtherKind") return `kind ${r.given}`;
  if (r.kind === "OtherObject") return `${r.given} of ${r.apiVersion}`;
  if (r.kind === "OddVersion") return `apiVersion ${r.apiVersion}, ${r.given === undefined ? "no kind" : `kind ${r.given}`}`;
  return "it has neither apiVersion nor kind";
}

function oneOf({ known, near }: { known: readonly string[]; near?: string | undefined }): string {
  return near === undefined ? `one of ${known.join(", ")}` : `did you mean ${near}? It is one of ${known.join(", ")}`;
}

function badValue(r: ProblemData<"BAD_VALUE">): string {
  switch (r.kind) {
    case "Choice":
      return `${named(r.key)} cannot be ${r.given}`;
    case "EmptyList":
    case "EmptyText":
      return `${named(r.key)} is empty`;
    case "Name":
      return `${named(r.key)} is no usable name`;
    case "Least":
      return `${named(r.key)} is ${r.given}, less than ${r.least}`;
    case "Most":
      return `${named(r.key)} is more than ${r.most}${r.characters ? " characters" : ""}`;
    case "Other":
      return `${named(r.key)}: ${r.said}`;
    case "Team":
      return `${r.given} is no team's slug`;
    case "Account":
      return `${r.given} is no account's name`;
  }
}

function badValueHint(r: ProblemData<"BAD_VALUE">): string {
  switch (r.kind) {
    case "Choice":
      return oneOf(r);
    case "EmptyList":
      return "it needs at least one item";
    case "EmptyText":
      return "write a value, or remove the key";
    case "Name":
      return "begin with a letter; letters, digits and _ may follow";
    case "Least":
      return `write ${r.least} or more`;
    case "Most":
      return `write ${r.most} or less`;
    case "Other":
      return AS_SHOWN;
    case "Team":
      return `write the slug alone, such as ${r.slug}`;
    case "Account":
      return "write it as GitHub shows it, such as renovate[bot]";
  }
}

function badQuantity(r: ProblemData<"BAD_QUANTITY">): string {
  switch (r.kind) {
    case "NotWhole":
      return `${r.given} is not a whole number`;
    case "NotWholePercent":
      return `${r.given} is not a whole percentage`;
    case "Over100":
      return `${r.given} is more than 100%`;
    case "Neither":
      return `${r.given} is neither a count nor a percentage`;
    case "TooSmall":
      return `${r.given} is less than ${r.least}`;
    case "Quoted":
      return `${r.given} is text, not a count`;
    case "NeverGrows":
      return `a factor of ${r.factor} never grows`;
    case "StartAboveMax":
      return `start is ${r.start}, above max, which is ${r.max}`;
  }
}

function badQuantityHint(r: ProblemData<"BAD_QUANTITY">): string {
  if (r.kind === "Over100") return "write 100% for all of them";
  if (r.kind === "Quoted") return `write ${r.bare} without quotes${r.percent ? `, or ${r.bare}%` : ""}`;
  if (r.kind === "NeverGrows") return `write a factor above 1, such as 2, or maxUnavailable: ${r.start}`;
  if (r.kind === "StartAboveMax") return `write a start of at most ${r.max}, or raise max`;
  return 'write a count such as 2, or a percentage such as "25%"';
}

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
