import fc from "fast-check";

/** A tree to be written as YAML in many styles. */
type Shape =
  | { kind: "scalar"; source: string; block: string | undefined }
  | { kind: "map"; pairs: [string, Shape][]; flow: boolean }
  | { kind: "seq"; items: Shape[]; flow: boolean };

interface Manner {
  eol: string;
  bom: boolean;
  finalBreak: boolean;
  step: number;
  /** Lists in the column of their key. */
  tight: boolean;
  /** Taken in turn, to put comments and blank lines between. */
  noise: string[];
}

const WORDS = [
  "v1.4.2",
  "1.10",
  "0044289",
  "on",
  "~",
  "a b",
  "x: y",
  "# no",
  "it's",
  'say "hi"',
  "{{ x }}",
  "eu-west-1",
  "c#d",
  "a:b",
  "-1",
  "- x",
  "",
  "é✓",
  "*x",
  "&y",
  "!z",
  "2024-01-02",
  "1:30",
  "null",
  "[",
  "%a",
  "@b",
];

const words = fc.oneof(
  fc.constantFrom(...WORDS),
  fc.string({ maxLength: 8 }).filter((text) => /^[\x20-\x7e]*$/.test(text)),
);

const PLAIN = [
  "v1.4.2",
  "1.10",
  "0044289",
  "on",
  "~",
  "a b",
  "it's",
  'say "hi"',
  "eu-west-1",
  "c#d",
  "a:b",
  "-1",
  "null",
  "é✓",
  "",
  "a\tb",
  "-x",
  "a, b",
  "x]",
];

const scalarSource = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...PLAIN) },
  { weight: 2, arbitrary: words.map((text) => JSON.stringify(text)) },
  { weight: 2, arbitrary: words.map((text) => `'${text.replaceAll("'", "''")}'`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "*anchor",
      "&anchor 5",
      "&other x",
      "&third",
      "!!str 1",
      "? a",
      "[a, b]",
      "{a: 1, b: [c]}",
      "{a, b: }",
      "[a: b]",
      "{{ .Values.x }}",
      '"a\n    b"',
      "one\n   two",
      "<<",
    ),
  },
);

const blockBody = fc
  .constantFrom("|", "|-", "|+", ">", ">-", "|2", "| # c")
  .chain((header) =>
    fc
      .array(fc.constantFrom("a: 1", "  b", "x", "", "# y", "k: |", "\tz", "   "), { minLength: 1, maxLength: 4 })
      .map((lines) => `${header}\n${lines.join("\n")}`),
  );

const scalarShape: fc.Arbitrary<Shape> = fc.oneof(
  { weight: 5, arbitrary: scalarSource.map((source): Shape => ({ kind: "scalar", source, block: undefined })) },
  { weight: 1, arbitrary: blockBody.map((block): Shape => ({ kind: "scalar", source: "x", block })) },
);

const keyArbitrary = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom("a", "b", "name", "c-d", "e_f", "g h", "k/l", "on") },
  { weight: 1, arbitrary: fc.constantFrom('"q.r"', "'s t'", "<<", "1", "u:v") },
);

const { shape } = fc.letrec<{ shape: Shape; map: Shape; seq: Shape }>((tie) => ({
  shape: fc.oneof({ depthSize: "small", maxDepth: 4 }, scalarShape, tie("map"), tie("seq")),
  map: fc
    .tuple(
      fc.uniqueArray(fc.tuple(keyArbitrary, tie("shape")), { selector: ([key]) => key, minLength: 1, maxLength: 4 }),
      fc.boolean(),
      fc.boolean(),
    )
    .map(([pairs, one, two]): Shape => ({ kind: "map", pairs, flow: one && two })),
  seq: fc
    .tuple(fc.array(tie("shape"), { maxLength: 4 }), fc.boolean(), fc.boolean())
    .map(([items, one, two]): Shape => ({ kind: "seq", items, flow: (one && two) || items.length === 0 })),
}));

const manner: fc.Arbitrary<Manner> = fc.record({
  eol: fc.constantFrom("\n", "\n", "\r\n"),
  bom: fc.integer({ min: 0, max: 9 }).map((roll) => roll === 0),
  finalBreak: fc.boolean(),
  step: fc.integer({ min: 1, max: 4 }),
  tight: fc.boolean(),
  noise: fc.array(fc.constantFrom("", "", "", "", "# note", "  # note", " "), { minLength: 1, maxLength: 12 }),
});

/** YAML as people write it, and a little as they do not: most of it is valid. */
export const yamlText: fc.Arbitrary<string> = fc.tuple(fc.array(shape, { minLength: 1, maxLength: 2 }), manner).map(([documents, how]) => {
  const text = documents.map((document) => noisy(lines(document, 0, how), how)).join("\n---\n");
  const whole = how.finalBreak ? `${text}\n` : text;
  return (how.bom ? "\ufeff" : "") + whole.replaceAll("\n", how.eol);
});

/** The same with a few characters changed: mostly no YAML any more, or other YAML. */
export const brokenText: fc.Arbitrary<string> = fc
  .tuple(
    yamlText,
    fc.array(
      fc.tuple(
        fc.nat(),
        fc.constantFrom(
          "",
          " ",
          "\n",
          ":",
          ": ",
          "- ",
          "#",
          " #",
          "'",
          '"',
          "{",
          "}",
          "[",
          "]",
          ",",
          "&a ",
          "*a",
          "|",
          ">",
          "\t",
          "---\n",
          "?",
          "!",
          "\\",
          "  ",
        ),
        fc.boolean(),
      ),
      { maxLength: 3 },
    ),
  )
  .map(([text, changes]) => {
    let changed = text;
    for (const [roll, insert, remove] of changes) {
      const at = roll % (changed.length + 1);
      changed = changed.slice(0, at) + insert + changed.slice(at + (remove ? 1 : 0));
    }
    return changed;
  });

function lines(node: Shape, column: number, how: Manner): string {
  const pad = " ".repeat(column);
  if (node.kind === "scalar") return pad + scalar(node, column, how);
  if (node.flow) return pad + flow(node);
  if (node.kind === "map") return node.pairs.map(([key, value]) => `${pad}${key}:${below(value, column, how, how.tight)}`).join("\n");
  return node.items
    .map(
      (item) =>
        `${pad}-${item.kind === "scalar" || item.flow ? below(item, column, how, false) : ` ${lines(item, column + 2, how).trimStart()}`}`,
    )
    .join("\n");
}

function below(value: Shape, column: number, how: Manner, tight: boolean): string {
  if (value.kind === "scalar" || value.flow) {
    const text = value.kind === "scalar" ? scalar(value, column, how) : flow(value);
    return text === "" ? "" : ` ${text}`;
  }
  return `\n${lines(value, column + (tight && value.kind === "seq" ? 0 : how.step), how)}`;
}

function scalar(node: Shape & { kind: "scalar" }, column: number, how: Manner): string {
  if (node.block === undefined) return node.source;
  const [header = "", ...body] = node.block.split("\n");
  return [header, ...body.map((line) => (line === "" ? "" : " ".repeat(column + how.step) + line))].join("\n");
}

function flow(node: Shape): string {
  if (node.kind === "scalar") return node.source === "" || node.source.includes("\n") ? "x" : node.source;
  if (node.kind === "seq") return `[${node.items.map(flow).join(", ")}]`;
  return `{${node.pairs.map(([key, value]) => `${key}: ${flow(value)}`).join(", ")}}`;
}

/** Comments and blank lines between the lines, and behind some of them. */
function noisy(text: string, how: Manner): string {
  let turn = 0;
  const next = (): string => how.noise[turn++ % how.noise.length] ?? "";
  return text
    .split("\n")
    .flatMap((line) => {
      const noise = next();
      if (noise === "# note" && !/[|>]|"[^"]*$|^\s*$/.test(line)) return [`${line} ${noise}`];
      return noise === "" ? [line] : [line, noise];
    })
    .join("\n");
}
