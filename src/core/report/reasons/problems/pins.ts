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
  VerifyKinds,
} from "../../../reasons/pins.ts";
import { sayWording } from "../wording.ts";
import { BY_NAME, byKind, type ProblemEntries, problemsOf, type SaidProblem, sayEntry } from "./entry.ts";

const BRACKETS = 'Write [0], [key=value] or ["odd.key"].';
const TAKEN_FROM = "Pin the place that the template takes its value from.";
const NO_PART = "Leave `part` out, or point the path at name:tag.";
const REPORT_IT = "Please report this with the file; nothing was written.";
const IN = "[ in {within}][ in document {document}]";

/** `a, b and 3 more`, or `none`. */
function some({ some: names, of }: { some: readonly string[]; of: number }): string {
  return names.length === 0 ? "none" : `${names.join(", ")}${of > names.length ? ` and ${of - names.length} more` : ""}`;
}

const PATH_SYNTAX = byKind<PathFaults>({
  Template: ["the template in it was not filled in", "Give the path of one cluster, with every {{ … }} replaced."],
  Prefix: ["a document's prefix looks like `#2/`", 'A key that begins with # is written ["#key"].'],
  Empty: ["it is empty", "Write the keys down to the value, such as spec.source.targetRevision."],
  NothingInside: ["nothing follows the !", "Write the path inside the block scalar after it, such as values!image.tag."],
  InsideNothing: ["a ! must follow the path of a block scalar", "Name the block scalar first, such as values!image.tag."],
  DotFirst: ["a key is missing before the dot", "Remove the dot."],
  Stray: ['"{sign}" is not expected here', "Separate keys by dots."],
  NoKey: ["a key is missing", 'A key with dots, spaces or brackets is written ["odd.key"].'],
  BracketOpen: ["the bracket is not closed", BRACKETS],
  QuoteOpen: ["the quote is not closed", BRACKETS],
  BadEscape: ["the quoted text has an escape that JSON does not know", BRACKETS],
  SelectorNoKey: ["the selector has no key", "Write [key=value]."],
  Bracket: [
    '["{given}" is neither an index nor key=value|nothing stands in the brackets]',
    (r) => `Write [0], [key=value] or ["${r.given === "" ? "odd.key" : r.given}"].`,
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
          if (r.of === 0) return `None of its ${count(r.items, "item")} has the key "${r.key}".`;
          return r.near === undefined ? `There are: ${some(r)}.` : `Did you mean "${r.near}"?`;
        },
      ],
      NoKey: [
        `{pinPath}: there is no key "{key}"${IN}`,
        (r) => (r.near === undefined ? `Keys there: ${some(r)}.` : `Did you mean "${r.near}"?`),
      ],
      Empty: [`{pinPath}: the {what} is empty${IN}`, (r) => (r.writable ? "Say `create` to write it." : "Write it first.")],
      NoItem: [`{pinPath}: there is no item {index}${IN}`, (r) => `The list has ${count(r.items, "item")}.`],
      IsMap: [`{pinPath}: it is a mapping, not a list${IN}`, (r) => `Name one of its keys: ${some(r)}.`],
      IsList: [`{pinPath}: it is a list, not a mapping${IN}`, (r) => `Pick one of its ${count(r.items, "item")}, such as [0] or [name=…].`],
      IsValue: [
        `{pinPath}: it is a single value and has no [key "{key}"|item]${IN}`,
        (r) => (r.block ? "Write ! to go on inside the YAML that it holds." : "Shorten the path, or mend the file."),
      ],
      NoDocument: [
        (r) => `the file has ${count(r.documents, "document")}, and the path asks for number ${r.asked}`,
        "Documents are counted from 1.",
      ],
      NoGenerator: ["{entry} is not a clusters generator", "Name an entry that has `clusters:`."],
      Selector: [
        (r) => `${r.entry} has ${r.several ? "more than one" : "no"} selector "name ${r.operator}"`,
        (r) => `Give it selector.matchExpressions with one {key: name, operator: ${r.operator}, values: […]}.`,
      ],
      NoValues: ["the selector has no `values`", "Write `values: []` there."],
      OddValues: ["the selector's `values` is not a plain list of names", "Write `values: []` there."],
      NoCluster: ["{name} stands for no cluster", "Name clusters."],
      NoEntries: ["the generator entries cannot be read", "Check the pin's old and new."],
    }),
    means: "nothing stands at the path",
    todo: "the nearest is named; `create: true` writes a missing key",
  },
  PIN_AMBIGUOUS: {
    ...byKind<AmbiguousKinds>({
      Documents: [
        ({ pinPath, documents, writing }) => {
          const places = documents.map(({ number, line }) => `#${number} (line ${line})`);
          return `${pinPath} ${writing ? "could be written in" : "is in"} ${documents.length} documents: ${places.join(", ")}`;
        },
        (r) => `Say which, such as #${r.documents[0]?.number ?? 1}/${r.pinPath}.`,
      ],
      Items: [
        (r) => sayWording(`{pinPath}: ${r.lines.length} items have {key}={value} (lines {lines})${IN}`, { code: "", ...r }, BY_NAME),
        "Make the key unique, or pick the item by its index.",
      ],
      OneEntry: ["{old} and {new} are one entry", "Name two entries."],
      ListsDiffer: [
        "the lists of In and NotIn differ ({some}), so some clusters are in both entries or in none",
        "Make the two lists the same.",
      ],
      SelectorsDiffer: [
        "the two entries select by more than name In and NotIn, and not by the same",
        "Give both the same clusters.selector and the same other expressions.",
      ],
      OthersHave: [
        ({ pinPath, from, some: names, of }) =>
          `${pinPath} is ${from ?? "not set"}, and ${of} other clusters have it (${names.join(", ")}${of > names.length ? ", …" : ""})`,
        "Setting it would change them too; take them out of the entry first.",
      ],
      TwoValues: ["two edits set this pin to different values", "Give each pin one value."],
      BothHold: [
        (r) => `both generator entries hold clusters (${r.inside ?? "none"} and ${r.notIn ?? "none"}), so there is none for ${r.to}`,
        "Finish or revert the release before, so that all clusters are with one entry.",
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
        Map: "Go on to one of its keys: {keys}.",
        List: (r) => `Go on to one of its ${count(r.items, "item")}, such as [0].`,
        NoBlock: "Write the value as a block scalar with | and its text below.",
      },
    },
    means: "the path leads to a map or a list",
    todo: "go on to the value",
  },
  PIN_SHARED_ANCHOR: {
    says: ({ anchor, sharers }) => {
      const places = sharers.map(({ pinPath, line }) => `${pinPath === "" ? "the whole document" : pinPath} (line ${line})`);
      return `the value is shared through ${anchor === undefined ? "an anchor" : `&${anchor}`}: ${places.join(", ")}`;
    },
    hint: "It would change for all of them; write it out where it should differ, without the anchor.",
    means: "the value is shared through a YAML anchor: it would change elsewhere too",
    todo: "write it out where it should differ",
  },
  PIN_DUPLICATE_KEY: {
    says: 'the key "{key}" stands twice in one mapping (lines {first} and {second})',
    hint: "Readers disagree on which one counts; remove one of them.",
    means: "a key on the way stands twice",
    todo: "remove one",
  },
  PIN_IS_TEMPLATE: {
    says: {
      kind: {
        Value: "the version is itself a template: {template}",
        There: "{pinPath}: a template stands there ({template})",
        Map: "{pinPath} is a template ({template})",
      },
    },
    hint: TAKEN_FROM,
    means: "the value is a template itself",
    todo: "pin what the template takes it from",
  },
  PIN_FILE_NOT_YAML: {
    ...byKind<NotYamlKinds>({
      Helm: ["not YAML but a template ({said})", "It is a Helm template; pin the value in the chart's values file instead."],
      Yaml: ["not YAML: {said}", "Mend the file first."],
      Json: ["not JSON: {said}", "Mend the file first."],
      OddJson: ["not JSON as this program reads it", "Reformat the file."],
      Alias: ["the alias *{alias} has no anchor", "Define the anchor above the alias, or write the value out."],
    }),
    means: "neither YAML nor JSON; often a Helm template",
    todo: "pin the value in the chart's values file",
  },
  PIN_FILE_TOO_LARGE: {
    says: {
      kind: {
        Bytes: ({ most }) => `the file is larger than ${most % 2 ** 20 === 0 ? `${most / 2 ** 20} MiB` : `${most} bytes`}`,
        Deep: "collections nest more than 200 levels deep",
        Marks: 'it has tags, keys after "?" or a mistake, and more than {most} brackets, colons, dashes, quotes and lines',
      },
    },
    hint: {
      kind: {
        Bytes: "Keep pins in a smaller file, one per cluster or stage.",
        Deep: "No reader should have to follow that; flatten it.",
        Marks: "Mend it, write it in plain YAML, or keep pins in a smaller file.",
      },
    },
    means: "over 10 MiB, or nested more than 200 deep",
    todo: "keep pins in a smaller file",
  },
  PIN_ALIAS_BOMB: {
    says: "the aliases (such as *{alias}) expand to far more than the file holds",
    hint: "Write the values out instead of nesting aliases.",
    means: "aliases expand to far more than the file holds",
    todo: "write the values out",
  },
  PIN_PART: {
    ...byKind<PartKinds>({
      Lacks: ['"{given}" has no {part}', "Leave `part` out, or say `create` to add it."],
      NoValue: ["there is no value yet to have a {part}", "Set the whole value first."],
      NoImage: ['"{given}" is not an image reference', NO_PART],
      Tag: ['"{given}" cannot be a tag', "A tag has up to 128 letters, digits, dots, dashes and underscores."],
      DigestWins: ["a digest follows the tag and wins over it, so a new tag alone would change nothing", "Use part tag+digest."],
      Digest: ['"{given}" cannot be a digest', "A digest looks like sha256:4f53cda1…."],
      TagDigest: ['"{given}" cannot be a tag and digest', "Write tag@sha256:…, tag, or @sha256:…."],
      Ref: ['"{given}" cannot be the ref of a URL', "Use a tag, branch or commit without spaces, & and #."],
    }),
    means: "the value has no such part, or the part cannot take the new value",
    todo: "leave `part` out, or set the whole value first",
  },
  PIN_VERIFY: {
    ...byKind<VerifyKinds>({
      Lists: ["the result would differ in more than the two lists", "Write the lists one name a line, with nothing but names in them."],
      Values: ["the result would differ in more than the values set", REPORT_IT],
      Unread: [(r) => `the result would not be read any more: ${sayPin(r.because).message}`, REPORT_IT],
      Style: ["the value cannot be written in the style that stands there ({style})", "Change the style by hand, or the value."],
    }),
    means: "the new file, read again, would differ in more than the pin",
    todo: "change the style by hand, or the value; where the hint asks for it, report the file",
  },
});

/** Says why a pin cannot be read or written, and what to do. */
export function sayPin(reason: PinReason): SaidProblem {
  return sayEntry(PIN_PROBLEMS[reason.code], reason);
}
