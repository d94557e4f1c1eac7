import { describe, expect, test } from "vitest";
import { idleMs } from "../../../test/support/cpu-time.ts";
import { compileGoTemplate, TemplateError } from "./index.ts";

/** The code that a template ends with, and the processor time until then. */
function ended(template: string): { code: string | undefined; ms: number } {
  let code: string | undefined;
  const ms = idleMs(() => {
    try {
      compileGoTemplate(template)({ clusters: Array.from({ length: 1000 }, (_, index) => `c${index}`) }, "error");
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      code = error.reason.code;
    }
  });
  return { code, ms };
}

describe("a template that would take minutes or all memory ends soon, with a reason", () => {
  const doubled = `{{ $l := list 1 2 }}${"{{ $l = list $l $l }}".repeat(40)}{{ $l }}`;
  const VARIABLES = Array.from({ length: 20_000 }, (_, index) => `{{ $v${index} := 1 }}`).join("");
  test.each([
    ["a loop in a loop", "{{ range until 30000 }}{{ range until 30000 }}{{ end }}{{ end }}", "GO_ENDLESS"],
    ["a loop over a number", "{{ range 400000000 }}{{ end }}", "GO_ENDLESS"],
    ["a list of lists that doubles", doubled, "GO_ENDLESS"],
    ["a search that goes to the end each time", '{{ regexFindAll "a.*b|a" (repeat 19999 "a") -1 }}', "GO_ENDLESS"],
    ["a pattern of many instructions", '{{ range until 99999 }}{{ regexFind "(a?){900}b" (repeat 19999 "a") }}{{ end }}', "GO_ENDLESS"],
    ["a new pattern each time", '{{ range until 99999 }}{{ regexFind (printf "(%d|a{900})" .) "b" }}{{ end }}', "GO_ENDLESS"],
    ["a long pattern", '{{ regexFind (repeat 99999 "(a|b)") "b" }}', "LACKS_LONG_PATTERN"],
    ["YAML in a loop", '{{ $y := repeat 60000 "- {a: b}\\n" }}{{ range until 99999 }}{{ fromYamlArray $y | len }}{{ end }}', "GO_ENDLESS"],
    ["a map of parts in a loop", '{{ $y := repeat 999999 "a" }}{{ range until 99999 }}{{ split "" $y | len }}{{ end }}', "GO_ENDLESS"],
    ["variables that are sought in a loop", `${VARIABLES}{{ range until 9999 }}{{ $v0 }}{{ end }}`, "GO_ENDLESS"],
    ["spaces in the middle", '{{ trim (printf "a%sa" (repeat 99990 " ")) | len }}', undefined],
    ["digits that are no number in the end", '{{ float64 (printf "%sx" (repeat 900000 "0")) }}', undefined],
    ["empty lines that end in a letter", '{{ toYaml (printf "%sx" (repeat 90000 "\\n")) | len }}', undefined],
    ["a replacement in a loop", '{{ range until 99999 }}{{ regexReplaceAll "a" (repeat 19999 "a") "b" }}{{ end }}', "GO_ENDLESS"],
    ["a text in a loop", '{{ range until 99999 }}{{ repeat 999999 "a" | len }}{{ end }}', "GO_ENDLESS"],
    ["a text put around each character", '{{ replace "" (repeat 999999 "a") (repeat 999999 "b") | len }}', "LACKS_LONG_TEXT"],
    ["a text put for each character", '{{ replace "b" (repeat 999999 "a") (repeat 999999 "b") | len }}', "LACKS_LONG_TEXT"],
    ["a long separator", '{{ join (repeat 900000 "a") (until 1000) | len }}', "LACKS_LONG_TEXT"],
    ["lines indented far", '{{ indent 900000 (repeat 1000 "\\n") | len }}', "LACKS_LONG_TEXT"],
    ["a number printed wide", '{{ printf "%1000000000d" 1 }}', "LACKS_LONG_TEXT"],
    ["a number printed with zeros", '{{ printf "%.1000000000d" 1 }}', "LACKS_LONG_TEXT"],
    ["a fraction printed to the last", '{{ printf "%.500f" 1.5 }}', "LACKS_LONG_TEXT"],
  ])("%s", (_, template, code) => {
    const { ms, ...how } = ended(template);
    expect(how).toEqual({ code });
    expect(ms).toBeLessThan(3000);
  });

  test("and what a large fleet needs is far from it", () => {
    for (const template of [
      '{{ $l := list }}{{ range .clusters }}{{ $l = append $l (printf "%s.example.com" .) }}{{ end }}{{ join "," $l }}',
      '{{ range .clusters }}{{ regexReplaceAll "[^a-z0-9]" . "-" | trunc 63 | lower }}{{ end }}',
      "{{ uniq .clusters | toJson }}{{ uniq (until 90000) | len }}",
    ])
      expect(ended(template).code).toBeUndefined();
  });
});
