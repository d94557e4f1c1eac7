/** Why a pin cannot be read or written: `core/pins/` and what moves clusters tell it, `core/report/reasons/problems/pins.ts` says it. */
import type { KindsOf, NoData, ReasonsOf } from "../base/reason.ts";

export interface PinProblems {
  /** `at`: column in the path. */
  PIN_PATH_SYNTAX: { pinPath: string; at: number } & KindsOf<PathFaults>;
  PIN_NOT_FOUND: KindsOf<NotFoundKinds>;
  PIN_AMBIGUOUS: KindsOf<AmbiguousKinds>;
  PIN_NOT_SCALAR: { pinPath: string } & KindsOf<{
    NoBlock: { style: PinStyle };
    Map: { keys: readonly string[] };
    List: { items: number };
  }>;
  /** `more`: of those who share it, how many are not listed. `writable`: with `create`. `follow`: the shared mapping that needs an anchor first. */
  PIN_SHARED_ANCHOR: {
    anchor: string | undefined;
    sharers: readonly { pinPath: string; line: number }[];
    more?: number | undefined;
    writable?: boolean | undefined;
    follow?: { pinPath: string; line: number; name: string } | undefined;
  };
  PIN_DUPLICATE_KEY: { key: string; first: number; second: number };
  PIN_IS_TEMPLATE: { template: string } & KindsOf<{ Value: NoData; There: { pinPath: string }; Map: { pinPath: string } }>;
  PIN_FILE_NOT_YAML: KindsOf<NotYamlKinds>;
  PIN_FILE_TOO_LARGE: KindsOf<TooLargeKinds>;
  PIN_ALIAS_BOMB: { alias: string };
  PIN_PART: KindsOf<PartKinds>;
  PIN_VERIFY: KindsOf<VerifyKinds>;
}

export interface TooLargeKinds {
  Bytes: { most: number };
  Deep: NoData;
  /** `Marks`: of one that the scanner cannot read. */
  Marks: { most: number };
  Crowded: { most: number };
  Documents: { most: number };
}

export type PinReason = ReasonsOf<PinProblems>;

export type PinStyle = "plain" | "single" | "double" | "literal" | "folded" | "empty";

export interface PathFaults {
  Template: NoData;
  Prefix: NoData;
  Empty: NoData;
  NothingInside: NoData;
  InsideNothing: NoData;
  DotFirst: NoData;
  Stray: { sign: string };
  NoKey: NoData;
  BracketOpen: NoData;
  QuoteOpen: NoData;
  BadEscape: NoData;
  SelectorNoKey: NoData;
  /** `given`: what stands in the brackets. */
  Bracket: { given: string };
}

/** How far the path leads. `within`: what of it was found; `document`: where only that is known. */
interface Found {
  pinPath: string;
  within?: string | undefined;
  document?: number | undefined;
}

/** The first of several names. */
interface Some {
  some: readonly string[];
  of: number;
}

export interface NotFoundKinds {
  /** `writable`: `create` would write it. */
  Empty: Found & { what: "document" | "value"; writable: boolean };
  NoItem: Found & { index: number; items: number };
  IsMap: Found & Some;
  IsList: Found & { items: number };
  /** `key`: undefined for an item. */
  IsValue: Found & { key: string | undefined; block: boolean };
  NoKey: Found & Some & { key: string; near: string | undefined };
  NoMatch: Found & Some & { key: string; value: string; items: number; near: string | undefined };
  NoDocument: { documents: number; asked: number };
  NoGenerator: { entry: string };
  /** `operator`: `In` or `NotIn`. */
  Selector: { entry: string; several: boolean; operator: string };
  NoValues: NoData;
  OddValues: NoData;
  NoCluster: { name: string };
  NoEntries: NoData;
}

export interface AmbiguousKinds {
  Items: Found & { key: string; value: string; lines: readonly number[] };
  Documents: { pinPath: string; documents: readonly { number: number; line: number }[]; writing: boolean };
  OneEntry: { old: string; new: string };
  ListsDiffer: { some: readonly string[] };
  SelectorsDiffer: NoData;
  OthersHave: Some & { pinPath: string; from: string | null };
  TwoValues: NoData;
  BothHold: { inside: string | null; notIn: string | null; to: string };
}

export interface NotYamlKinds {
  Alias: { alias: string };
  Yaml: { said: string };
  Helm: { said: string };
  Json: { said: string };
  OddJson: NoData;
}

export interface PartKinds {
  Lacks: { given: string; part: string };
  NoValue: { part: string };
  NoImage: { given: string };
  Tag: { given: string };
  DigestWins: NoData;
  Digest: { given: string };
  TagDigest: { given: string };
  Ref: { given: string };
}

export interface VerifyKinds {
  Style: { style: PinStyle };
  Unread: { because: PinReason };
  Values: NoData;
  Lists: NoData;
}
