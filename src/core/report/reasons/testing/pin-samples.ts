import type { PinProblems } from "../../../reasons/pins.ts";

const way = { pinPath: "spec.generators[0].list.elements[cluster=eu-9].tag", within: "spec.generators[0].list.elements" };
const pinPath = "image.tag";
const some = ["name", "tag"];

/** Data of each code in each of its kinds; the first is the example of docs/troubleshooting.md. */
export const PIN_SAMPLES: { readonly [Code in keyof PinProblems]: readonly [PinProblems[Code], ...PinProblems[Code][]] } = {
  PIN_PATH_SYNTAX: [
    { pinPath: "#1/a..b", at: 6, kind: "NoKey" },
    { pinPath: "a.{{ x }}", at: 3, kind: "Template" },
    { pinPath: "#x", at: 1, kind: "Prefix" },
    { pinPath: "", at: 1, kind: "Empty" },
    { pinPath: "a!", at: 2, kind: "NothingInside" },
    { pinPath: "!a", at: 1, kind: "InsideNothing" },
    { pinPath: ".a", at: 1, kind: "DotFirst" },
    { pinPath: "a b", at: 2, kind: "Stray", sign: " " },
    { pinPath: "a[0", at: 2, kind: "BracketOpen" },
    { pinPath: 'a["', at: 2, kind: "QuoteOpen" },
    { pinPath: 'a["\\x"]', at: 2, kind: "BadEscape" },
    { pinPath: "a[=b]", at: 3, kind: "SelectorNoKey" },
    { pinPath: "a[]", at: 3, kind: "Bracket", given: "" },
    { pinPath: "a[b]", at: 3, kind: "Bracket", given: "b" },
  ],
  PIN_NOT_FOUND: [
    { kind: "NoMatch", ...way, key: "cluster", value: "eu-9", items: 3, near: "eu-1", some: ["eu-1"], of: 3 },
    { kind: "NoMatch", ...way, key: "cluster", value: "x", items: 12, near: undefined, some: ["a", "b"], of: 12 },
    { kind: "NoMatch", ...way, key: "cluster", value: "x", items: 1, near: undefined, some: [], of: 0 },
    { kind: "NoKey", pinPath, within: "image", key: "tag", near: "tags", some, of: 2 },
    { kind: "NoKey", pinPath, document: 2, key: "image", near: undefined, some: [], of: 0 },
    { kind: "Empty", pinPath, what: "document", writable: true },
    { kind: "Empty", pinPath, within: "image", what: "value", writable: false },
    { kind: "NoItem", pinPath: "a[7]", within: "a", index: 7, items: 1 },
    { kind: "IsMap", pinPath: "a[0]", within: "a", some, of: 9 },
    { kind: "IsList", pinPath: "a.b", within: "a", items: 2 },
    { kind: "IsValue", pinPath: "a.b", within: "a", key: "b", block: false },
    { kind: "IsValue", pinPath: "a[0]", within: "a", key: undefined, block: true },
    { kind: "NoDocument", documents: 1, asked: 3 },
    { kind: "NoGenerator", entry: "spec.generators[0]" },
    { kind: "Selector", entry: "spec.generators[0]", several: false, operator: "In" },
    { kind: "Selector", entry: "spec.generators[0]", several: true, operator: "NotIn" },
    { kind: "NoValues" },
    { kind: "OddValues" },
    { kind: "NoCluster", name: "no-cluster.stagecoach.dev" },
    { kind: "NoEntries" },
  ],
  PIN_AMBIGUOUS: [
    {
      kind: "Documents",
      pinPath: "a",
      documents: [
        { number: 1, line: 1 },
        { number: 2, line: 7 },
      ],
      writing: false,
    },
    { kind: "Documents", pinPath: "a", documents: [{ number: 1, line: 1 }], writing: true },
    { kind: "Items", ...way, key: "cluster", value: "eu-9", lines: [3, 9] },
    { kind: "OneEntry", old: "a", new: "a" },
    { kind: "ListsDiffer", some: ["eu-1"] },
    { kind: "SelectorsDiffer" },
    { kind: "OthersHave", pinPath, from: "v1", some: ["a", "b", "c", "d", "e"], of: 7 },
    { kind: "OthersHave", pinPath, from: null, some: ["a"], of: 1 },
    { kind: "TwoValues" },
    { kind: "BothHold", inside: "v1", notIn: null, to: "v2" },
  ],
  PIN_NOT_SCALAR: [
    { pinPath: "spec.source", kind: "Map", keys: ["repoURL", "path"] },
    { pinPath: "a", kind: "List", items: 2 },
    { pinPath: "a", kind: "NoBlock", style: "double" },
  ],
  PIN_SHARED_ANCHOR: [
    {
      anchor: "v",
      sharers: [
        { pinPath: "a", line: 1 },
        { pinPath: "b", line: 2 },
      ],
    },
    { anchor: undefined, sharers: [{ pinPath: "", line: 1 }], writable: true },
    { anchor: "default", sharers: [{ pinPath: "default", line: 1 }], follow: { pinPath: "default.image", line: 2, name: "image" } },
  ],
  PIN_DUPLICATE_KEY: [{ key: "version", first: 3, second: 9 }],
  PIN_IS_TEMPLATE: [
    { kind: "Value", template: "{{ .Values.tag }}" },
    { kind: "There", pinPath, template: "{{ .Values.tag }}" },
    { kind: "Map", pinPath, template: "{{ x }}" },
  ],
  PIN_FILE_NOT_YAML: [
    { kind: "Helm", said: "Nested mappings are not allowed" },
    { kind: "Yaml", said: "Nested mappings are not allowed" },
    { kind: "Json", said: "Unexpected end of JSON input" },
    { kind: "OddJson" },
    { kind: "Alias", alias: "x" },
  ],
  PIN_FILE_TOO_LARGE: [
    { kind: "Bytes", most: 10 * 1024 * 1024 },
    { kind: "Bytes", most: 1000 },
    { kind: "Deep" },
    { kind: "Marks", most: 60_000 },
  ],
  PIN_ALIAS_BOMB: [{ alias: "a" }],
  PIN_PART: [
    { kind: "Lacks", given: "nginx", part: "tag" },
    { kind: "NoValue", part: "tag" },
    { kind: "NoImage", given: "a b" },
    { kind: "Tag", given: "a b" },
    { kind: "DigestWins" },
    { kind: "Digest", given: "a" },
    { kind: "TagDigest", given: "a@b" },
    { kind: "Ref", given: "a b" },
  ],
  PIN_VERIFY: [
    { kind: "Lists" },
    { kind: "Values" },
    { kind: "Unread", because: { code: "PIN_FILE_NOT_YAML", kind: "Yaml", said: "bad indentation" } },
    { kind: "Style", style: "folded" },
  ],
};
