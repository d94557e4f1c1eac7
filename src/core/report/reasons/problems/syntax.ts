import type { KindsOf } from "../../../base/reason.ts";
import type { SyntaxKinds } from "../../../reasons/problems/file.ts";
import { byKind, didYouMean, type SaidProblem, sayEntry } from "./entry.ts";

const QUOTE_IT = "put the value in quotes";

/** Each slip in a YAML file: what was seen, and how it is mended. */
export const SYNTAX_LINES = byKind<SyntaxKinds>({
  Blank: ["the line is indented by a {blank}, which YAML does not allow", "write spaces instead"],
  NoColon: ["a colon is missing after `{key}`", "write `{key}:`"],
  NoSpace: ["a space is missing after the colon of `{key}`", "write `{key}: ` and then its value"],
  ColonInValue: ["a second colon on one line: YAML takes what stands before it for a key", QUOTE_IT],
  Indent: [
    ({ is }) => `the line is indented by ${is} ${is === 1 ? "space" : "spaces"}, which fits none of the lines around it`,
    ({ near }) => `write ${near.join(" or ")} ${near.at(-1) === 1 ? "space" : "spaces"} before it, as the lines that it belongs to have`,
  ],
  DashSpace: ["a space is missing after the dash", "write `- ` and then the item"],
  QuoteOpen: ["this quote ({sign}) is never closed", "close it at the end of its value"],
  AfterQuote: ["something follows the closing quote", "put all of the value in quotes of one kind, and the other kind inside"],
  BracketOpen: [
    ({ sign }) => `this ${sign} is never closed`,
    ({ close }) => `close it with ${close}, or remove it where the lines below are a list or keys by themselves`,
  ],
  BracketExtra: [({ sign }) => `this ${sign} closes nothing`, "remove it, or open it before"],
  Reserved: ["no value can begin with {sign}", QUOTE_IT],
  Conflict: ["{marker} is what git leaves of a merge that is not finished", "keep one side, and remove the three lines of git's"],
  Alias: [
    "*{name} stands for an anchor, and there is no &{name} before it",
    ({ name, near }) =>
      didYouMean(near && `*${near}`, /^\w[\w-]*$/.test(name) ? `write &${name} where it is defined, or ${QUOTE_IT}` : QUOTE_IT),
  ],
  Encoding: ["the file is not UTF-8: a character here cannot be read", "write the file as UTF-8"],
  Parser: [
    "not valid YAML: {said}",
    ({ template }) => (template ? "put {{ … }} in quotes; a Helm template is not a rollout" : "correct the syntax at this place"),
  ],
});

/** Says a slip of a file that is no rollout. */
export function saySlip(slip: KindsOf<SyntaxKinds>): SaidProblem {
  return sayEntry({ ...SYNTAX_LINES, means: "" }, { code: "SYNTAX", ...slip });
}
