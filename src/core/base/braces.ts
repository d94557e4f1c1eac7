/** Puts a text in the place of each `{{ tag }}`. A regular expression would seek an end from each `{` there is. */
export function replaceBraces(source: string, by: string): string {
  let text = "";
  for (let at = 0; ; ) {
    const open = source.indexOf("{{", at);
    const close = open === -1 ? -1 : source.indexOf("}}", open + 2);
    if (close === -1) return text + source.slice(at);
    text += source.slice(at, open) + by;
    at = close + 2;
  }
}

type BracePart = { text: string } | { tag: string };

/** Splits a text at its `{{ tag }}`s, each tag as it is written; undefined where a `{{` is never closed. */
export function splitBraces(source: string): BracePart[] | undefined {
  const parts: BracePart[] = [];
  let at = 0;
  while (at < source.length) {
    const open = source.indexOf("{{", at);
    if (open !== at) parts.push({ text: source.slice(at, open === -1 ? undefined : open) });
    if (open === -1) break;
    const close = source.indexOf("}}", open + 2);
    if (close === -1) return undefined;
    parts.push({ tag: source.slice(open + 2, close) });
    at = close + 2;
  }
  return parts;
}
