/** Texts that parsers are slow with: runs of one sign that end otherwise, and rows of what opens, separates or escapes. */

const SIGNS = " \n\r\t/.:-@=#[](){}<>*_~$|\"'\\,;!%&?0aA`+^é";

const PIECES = [
  ...[
    "a/",
    "[a](",
    "<a ",
    "<!--",
    "-->",
    "```\n",
    "> ",
    "- ",
    "/pause\n",
    "/pause ",
    "/plan x\n/paus y\n",
    "{{",
    "}}",
    "{{a}}",
    "{{ cluster.name }}",
  ],
  ...[
    "@a ",
    "Stagecoach-Run: a/1\n",
    "\r\n",
    "https://a@b/",
    "//",
    "#1 ",
    "ghp_a ",
    "v1.2.3 ",
    ">=1 ",
    " || ",
    "a=b,",
    "* @a\n",
    "**/a",
    "*a",
    "?",
    "[[",
  ],
  ...[
    "[a=b].",
    "x | y\n",
    "|-|\n",
    "&a *a ",
    "- {a: b}\n",
    "a: b\n",
    "k: |\n  a\n",
    "\\\\",
    "1d",
    "(a+)+",
    "a.b",
    "!=  ",
    "*/5 * * * * ",
    "🚂",
    "\0",
  ],
  ...[
    "<b>",
    "</b>",
    "$$\n",
    "~~a\n",
    "'a'",
    "[^1]:",
    "a\n---\n",
    "_0",
    "(((a",
    "a||b ",
    "..a",
    "[?(@.a==1)]",
    "[*]",
    "#{",
    "not ",
    "a ? b : ",
    "image:1@sha256:0",
  ],
];

/** Fills a text of this size with a piece. */
export function cruelTexts(size: number) {
  const filled = (piece: string, end = "", head = "") =>
    head + piece.repeat(Math.floor((size - head.length - end.length) / piece.length)) + end;
  const runs = [...SIGNS].flatMap((sign): [string, string][] => [
    [`a run of ${JSON.stringify(sign)}`, filled(sign, "x")],
    [`a line of ${JSON.stringify(sign)}`, filled(sign, "\n", "x")],
  ]);
  const rows = PIECES.map((piece): [string, string] => [`rows of ${JSON.stringify(piece)}`, filled(piece)]);
  // A class of a glob that fails at its very end.
  const classes: [string, string] = ["rows of [ that fail", `${"[".repeat(9990)}b-a]`];
  return { cruel: [...runs, ...rows, classes], pieces: PIECES, filled };
}
