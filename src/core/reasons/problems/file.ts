import type { KindsOf, NoData } from "../../base/reason.ts";

/** Slips in YAML. */
export interface SyntaxKinds {
  /** `blank`: what it is indented by. */
  Blank: { blank: string };
  NoColon: { key: string };
  NoSpace: { key: string };
  ColonInValue: NoData;
  /** `near`: by how many spaces what stands above is indented. */
  Indent: { is: number; near: readonly number[] };
  DashSpace: NoData;
  QuoteOpen: { sign: string };
  AfterQuote: NoData;
  BracketOpen: { sign: string; close: string };
  BracketExtra: { sign: string };
  /** The first character of a value. */
  Reserved: { sign: string };
  Conflict: { marker: string };
  Alias: { name: string; near?: string | undefined };
  Encoding: NoData;
  /** None of those: `said` by the parser. */
  Parser: { said: string; template: boolean };
}

/** What is wrong with a text that should be a settings file of ours: as YAML, as a resource, and against its schema. */
export interface FileProblems {
  SYNTAX: KindsOf<SyntaxKinds>;
  DUPLICATE_KEY: NoData;
  TOO_LARGE: KindsOf<{ Size: { kibibytes: number; most: number }; Marks: { most: number }; Slow: NoData }>;
  TOO_DEEP: { kind: "Brackets" | "File" } | { kind: "Values"; most: number };
  ALIAS_BOMB: NoData;
  TOO_MANY_DOCUMENTS: { most: number };
  UNREADABLE: { said: string; name?: string };
  NOT_A_ROLLOUT:
    | { kind: "Empty" }
    | { kind: "Json"; name: string }
    | { kind: "NoVersion"; follows: boolean }
    | { kind: "NoMap"; is: string }
    | { kind: "OtherKind"; apiVersion: string; given: string; known: readonly string[] }
    | { kind: "OtherObject"; apiVersion: string; given: string; near?: string | undefined }
    | { kind: "OddVersion"; apiVersion: string; given: string | undefined; near?: string | undefined };
  SEVERAL_DOCUMENTS: NoData;
  /** `where`: the map it stands in, empty for the top. `elsewhere`: the version of the resource that has this key. `home`: the map that has it. */
  UNKNOWN_KEY: { key: string; where: string; known: readonly string[]; near?: string | undefined; elsewhere?: string; home?: string };
  MISSING_KEY: { kind: "Key"; key: string } | { kind: "SourceRef" } | { kind: "Clusters"; stage: number };
  NOT_BUILT_YET: { kind: "CommitOfFile" };
  WRONG_TYPE:
    | { kind: "LabelValue"; given: string; quoted: string }
    | { kind: "Text"; given: string; quoted: string }
    | { kind: "Type"; key: string; wanted: string | undefined; given: string };
  BAD_VALUE:
    | { kind: "Choice"; key: string; given: string; known: readonly string[]; near?: string | undefined }
    | { kind: "EmptyList" | "EmptyText" | "Name"; key: string }
    | { kind: "Least"; key: string; given: string; least: string }
    | { kind: "Most"; key: string; most: string; characters: boolean }
    | { kind: "Other"; key: string; said: string }
    | { kind: "OneProvider" }
    | { kind: "Team"; given: string; slug: string }
    | { kind: "Account"; given: string };
  BAD_OPERATOR: { key: string; given: string; known: readonly string[]; near?: string | undefined };
  BAD_DURATION:
    | { kind: "Text"; given: string; bare?: string | undefined }
    | { kind: "Zero"; key: "seenDeadline" | "waitingDeadline" | "progressDeadline"; given: string }
    | { kind: "NoUnit"; key: string; given: string };
  BAD_QUANTITY:
    | { kind: "NotWhole" | "NotWholePercent" | "Over100" | "Neither"; given: string }
    | { kind: "TooSmall"; given: string; least: string }
    | { kind: "TooLarge"; given: string; most: string }
    | { kind: "Quoted"; given: string; bare: string; percent: boolean }
    | { kind: "NeverGrows"; factor: number; start: number }
    | { kind: "StartAboveMax"; start: number; max: number };
  SAME_KEY_TWICE: { ours: string; theirs: string };
  SAID_TWICE: { key: string; also: string };
  UNKNOWN_ROLLOUT: { name: string; known: readonly string[]; near?: string | undefined };
  /** `ancestor`: of the resource before ours, which has annotations for it. */
  CANNOT_RUN: { name: string; lacks: readonly ("release" | "pins")[]; ancestor: boolean };
}
