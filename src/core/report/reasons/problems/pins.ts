import { count } from "../../../base/count.ts";
import type {
  AmbiguousKinds,
  NotFoundKinds,
  NotYamlKinds,
  PartKinds,
  PathFaults,
  PinProblems,
  PinReason,
  PinStyle,
  TooLargeKinds,
  VerifyKinds,
} from "../../../reasons/pins.ts";
import { sayWording } from "../wording.ts";
import { BY_NAME, byKind, type ProblemEntries, problemsOf, type SaidProblem, sayEntry } from "./entry.ts";

const BRACKETS = 'write [0], [key=value] or ["odd.key"]';
const NO_PART = "leave `part` out, or point the path at name:tag";
const MARKS = "more than {most} brackets, colons, dashes, quotes and lines";
const SMALLER = "keep pins in a smaller file, one per cluster or stage";
const REPORT_IT = "report this with the file: nothing was written";
const IN = "[ in {within}][ in document {document}]";

/** `a, b and 3 more`, or `none`. */
function some({ some: names, of }: { some: readonly string[]; of: number }): string {
  return names.length === 0 ? "none" : `${names.join(", ")}${of > names.length ? ` and ${of - names.length} more` : ""}`;
}

const PATH_SYNTAX = byKind<PathFaults>({
  Template: ["the template in it was not filled in", "give the path of one cluster, with every {{ … }} replaced"],
  Prefix: ["a document's prefix looks like `#2/`", 'write a key that begins with # as ["#key"]'],
  Empty: ["it is empty", "write the keys down to the value, such as spec.source.targetRevision"],
  NothingInside: ["nothing follows the !", "write the path inside the block scalar after it, such as values!image.tag"],
  InsideNothing: ["a ! must follow the path of a block scalar", "name the block scalar first, such as values!image.tag"],
  DotFirst: ["a key is missing before the dot", "remove the dot"],
  Stray: ['"{sign}" is not expected here', "separate keys by dots"],
  NoKey: ["a key is missing", 'write a key with dots, spaces or brackets as ["odd.key"]'],
  BracketOpen: ["the bracket is not closed", BRACKETS],
  QuoteOpen: ["the quote is not closed", BRACKETS],
  BadEscape: ["the quoted text has an escape that JSON does not know", BRACKETS],
  SelectorNoKey: ["the selector has no key", "write [key=value]"],
  Bracket: [
    '["{given}" is neither an index nor key=value|the brackets are empty]',
    (r) => `write [0], [key=value] or ["${r.given === "" ? "odd.key" : r.given}"]`,
  ],
});

const STYLES: Record<PinStyle, string> = {
  plain: "a plain value",
  single: "a quoted value",
  double: "a quoted value",
  folded: "a folded one (>)",
  literal: "one whose indentation varies",
  empty: "empty",
};

/** Pins that cannot be read or written. */
export const PIN_PROBLEMS: ProblemEntries<PinProblems> = problemsOf<PinProblems>()({
  PIN_PATH_SYNTAX: {
    says: (r) => `pin path "${r.pinPath}", column ${r.at}: ${sayWording(PATH_SYNTAX.says, r, BY_NAME)}`,
    hint: PATH_SYNTAX.hint,
    means: "not a pin path",
    todo: "`stagecoach pin --help` shows the syntax",
  },
  PIN_NOT_FOUND: {
    ...byKind<NotFoundKinds>({
      NoMatch: [
        `{pinPath}: no item has {key}={value}${IN}`,
        (r) => {
          if (r.of === 0) return `use another key: none of its ${count(r.items, "item")} has "${r.key}"`;
          return r.near === undefined ? `name one of those there, or \`create\` (there: ${some(r)})` : `did you mean "${r.near}"?`;
        },
      ],
      NoKey: [
        `{pinPath}: there is no key "{key}"${IN}`,
        (r) => (r.near === undefined ? `use a key that is there, or \`create\` (there: ${some(r)})` : `did you mean "${r.near}"?`),
      ],
      Empty: [`{pinPath}: the {what} is empty${IN}`, (r) => (r.writable ? "say `create` to write it" : "write it first")],
      NoItem: [`{pinPath}: there is no item {index}${IN}`, (r) => `name an item that is there: the list has ${r.items}, counted from 0`],
      IsMap: [`{pinPath}: it is a mapping, not a list${IN}`, (r) => `name one of its keys: ${some(r)}`],
      IsList: [`{pinPath}: it is a list, not a mapping${IN}`, (r) => `pick one of its ${count(r.items, "item")}, such as [0] or [name=…]`],
      IsValue: [
        `{pinPath}: it is a single value and has no [key "{key}"|item]${IN}`,
        (r) => (r.block ? "write ! to go on inside the YAML that it holds" : "shorten the path, or correct the file"),
      ],
      NoDocument: [
        (r) => `the file has ${count(r.documents, "document")}, and the path asks for number ${r.asked}`,
        "name a document that is there, counted from 1",
      ],
      NoGenerator: ["{entry} is not a clusters generator", "name an entry that has `clusters:`"],
      Selector: [
        (r) => `${r.entry} has ${r.several ? "more than one" : "no"} selector "name ${r.operator}"`,
        (r) => `give it selector.matchExpressions with one {key: name, operator: ${r.operator}, values: […]}`,
      ],
      NoValues: ["the selector has no `values`", "write `values: []` there"],
      OddValues: ["the selector's `values` is not a plain list of names", "write `values: []` there"],
      NoCluster: ["{name} stands for no cluster", "name clusters"],
      NoEntries: ["the generator entries cannot be read", "check the pin's old and new"],
    }),
    means: "nothing stands at the path",
    todo: "take the nearest, which the hint names; `create: true` writes a missing key or item",
  },
  PIN_AMBIGUOUS: {
    ...byKind<AmbiguousKinds>({
      Documents: [
        ({ pinPath, documents, writing }) => {
          const places = documents.map(({ number, line }) => `#${number} (line ${line})`);
          return `${pinPath} ${writing ? "could be written in" : "is in"} ${count(documents.length, "document")}: ${places.join(", ")}`;
        },
        (r) => `say which, such as #${r.documents[0]?.number ?? 1}/${r.pinPath}`,
      ],
      Items: [
        (r) => sayWording(`{pinPath}: ${r.lines.length} items have {key}={value} (lines {lines})${IN}`, { code: "", ...r }, BY_NAME),
        "make the key unique, or pick the item by its index",
      ],
      OneEntry: ["{old} and {new} are one entry", "name two entries"],
      ListsDiffer: [
        "the lists of In and NotIn differ ({some}), so some clusters are in both entries or in none",
        "make the two lists the same",
      ],
      SelectorsDiffer: [
        "the two entries select by more than name In and NotIn, and not by the same",
        "give both the same clusters.selector and the same other expressions",
      ],
      OthersHave: [
        ({ pinPath, from, some: names, of }) =>
          `${pinPath} is ${from ?? "not set"}, and ${of} other clusters have it (${names.join(", ")}${of > names.length ? ", …" : ""})`,
        "take them out of the entry first: a new value would change them, too",
      ],
      TwoValues: ["two edits set this pin to different values", "give each pin one value"],
      BothHold: [
        (r) => `both generator entries hold clusters (${r.inside ?? "none"} and ${r.notIn ?? "none"}), so there is none for ${r.to}`,
        "finish or revert the release before, so that all clusters are with one entry",
      ],
    }),
    means: "the path matches several places, or two entries of a clusters generator contradict each other",
    todo: "name the document by `#2/`, or a key that tells the items apart",
  },
  PIN_NOT_SCALAR: {
    says: {
      kind: {
        Map: "{pinPath} is a mapping, not a single value",
        List: "{pinPath} is a list, not a single value",
        NoBlock: (r) => `${r.pinPath}: ! goes on inside a block scalar (|), and this is ${STYLES[r.style]}`,
      },
    },
    hint: {
      kind: {
        Map: "go on to one of its keys: {keys}",
        List: (r) => `go on to one of its ${count(r.items, "item")}, such as [0]`,
        NoBlock: "write the value as a block scalar with | and its text below",
      },
    },
    means: "the path leads to a map or a list",
    todo: "go on to the value",
  },
  PIN_SHARED_ANCHOR: {
    says: ({ anchor, sharers, more }) => {
      const places = sharers.map(({ pinPath, line }) => `${pinPath === "" ? "the whole document" : pinPath} (line ${line})`);
      return `the value is shared through ${anchor === undefined ? "an anchor" : `&${anchor}`}: ${places.join(", ")}${more === undefined ? "" : ` and ${more} more`}`;
    },
    hint: ({ writable, follow }) => {
      if (follow !== undefined)
        return `give ${follow.pinPath} (line ${follow.line}) an anchor, such as &${follow.name}, and say \`create\`: then a value of its own is written, and all else follows the default`;
      if (writable === true) return "say `create` to write a value of its own there: without it, it would change for all of them";
      return "write it out where it should differ, without the anchor: it would change for all of them";
    },
    means: "the value is shared through a YAML anchor: it would change elsewhere too",
    todo: "write it out where it should differ; `create: true` does so for an alias, and for what a merge brings in",
  },
  PIN_DUPLICATE_KEY: {
    says: 'the key "{key}" appears twice in one mapping (lines {first} and {second})',
    hint: "remove one of them: readers disagree on which one counts",
    means: "a key on the way appears twice",
    todo: "remove one",
  },
  PIN_IS_TEMPLATE: {
    says: {
      kind: {
        Value: "the version is itself a template: {template}",
        There: "{pinPath}: it is a template ({template})",
        Map: "{pinPath} is a template ({template})",
      },
    },
    hint: "pin the place that the template takes its value from",
    means: "the value is a template itself",
    todo: "pin what the template takes it from",
  },
  PIN_FILE_NOT_YAML: {
    ...byKind<NotYamlKinds>({
      Helm: ["not YAML but a template ({said})", "pin the value in the chart's values file instead: this is a Helm template"],
      Yaml: ["not YAML: {said}", "correct the file first"],
      Json: ["not JSON: {said}", "correct the file first"],
      OddJson: ["not JSON as this program reads it", "reformat the file"],
      Alias: ["the alias *{alias} has no anchor", "define the anchor above the alias, or write the value out"],
    }),
    means: "neither YAML nor JSON; often a Helm template",
    todo: "pin the value in the chart's values file",
  },
  PIN_FILE_TOO_LARGE: {
    ...byKind<TooLargeKinds>({
      Bytes: [({ most }) => `the file is larger than ${most % 2 ** 20 === 0 ? `${most / 2 ** 20} MiB` : `${most} bytes`}`, SMALLER],
      Deep: ["collections nest more than 200 levels deep", "flatten it"],
      Documents: ["it has more than {most} documents", "keep pins in a file of fewer documents"],
      Crowded: [`it has ${MARKS}`, SMALLER],
      Marks: [
        `it has tags, keys after "?" or a mistake, and ${MARKS}`,
        "correct it, write it in plain YAML, or keep pins in a smaller file",
      ],
    }),
    means: "over 10 MiB, or nested more than 200 deep",
    todo: "keep pins in a smaller file",
  },
  PIN_ALIAS_BOMB: {
    says: "the aliases (such as *{alias}) expand to far more than the file holds",
    hint: "write the values out instead of nesting aliases",
    means: "aliases expand to far more than the file holds",
    todo: "write the values out",
  },
  PIN_PART: {
    ...byKind<PartKinds>({
      Lacks: ['"{given}" has no {part}', "leave `part` out, or say `create` to add it"],
      NoValue: ["there is no value yet to have a {part}", "set the whole value first"],
      NoImage: ['"{given}" is not an image reference', NO_PART],
      Tag: ['"{given}" cannot be a tag', "use at most 128 letters, digits, dots, dashes and underscores"],
      DigestWins: ["a digest follows the tag and wins over it, so a new tag alone would change nothing", "use part tag+digest"],
      Digest: ['"{given}" cannot be a digest', "write a digest such as sha256:4f53cda1…"],
      TagDigest: ['"{given}" cannot be a tag and digest', "write tag@sha256:…, tag, or @sha256:…"],
      Ref: ['"{given}" cannot be the ref of a URL', "use a tag, branch or commit without spaces, & and #"],
    }),
    means: "the value has no such part, or the part cannot take the new value",
    todo: "leave `part` out, or set the whole value first",
  },
  PIN_VERIFY: {
    ...byKind<VerifyKinds>({
      Lists: ["the result would differ in more than the two lists", "write the lists one name a line, with nothing but names in them"],
      Values: ["the result would differ in more than the values set", REPORT_IT],
      Unread: [(r) => `the result would not be read any more: ${sayPin(r.because).message}`, REPORT_IT],
      Style: ["the value cannot be written in the style that stands there ({style})", "change the style by hand, or the value"],
    }),
    means: "the new file, read again, would differ in more than the pin",
    todo: "change the style by hand, or the value; where the hint asks for it, report the file",
  },
});

/** Says why a pin cannot be read or written, and what to do. */
export function sayPin(reason: PinReason): SaidProblem {
  return sayEntry(PIN_PROBLEMS[reason.code], reason);
}
