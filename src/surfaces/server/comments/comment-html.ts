/** Elements whose tags were opened and not closed so far. */
export interface OpenElements {
  names: string[];
  /** A tag that leads nobody knows where: from here on nothing is plain. */
  lost: boolean;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));
/** Whatever else looks like a tag, such as `<version>`, GitHub leaves out, and the text after it is as it was. A `<p>` ends with its paragraph. */
const ENCLOSING = words(
  "a abbr address article aside b bdi bdo big blockquote body button caption center cite code colgroup dd del details dfn dialog dir div dl dt em " +
    "fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 h7 h8 head header html i iframe ins kbd label legend li main map mark math menu nav " +
    "noframes noscript object ol optgroup option output picture pre q rp rt ruby s samp script search section select small span strike strong style sub " +
    "summary sup svg table tbody td template textarea tfoot th thead time title tr tt u ul var video audio xmp",
);
/** Their end may be left out: it is where what they stand in ends. */
const ENDS_WITH_ITS_PARENT = words("caption colgroup dd dt li optgroup option rp rt tbody td tfoot th thead tr");
const COMMENT_OR_TAG = /<!--(?:-?>|[\s\S]*?-->)|<(\/?)([A-Za-z][A-Za-z0-9-]*)((?:"[^"]*"|'[^']*'|[^"'<>])*)>/g;

export function noOpenElements(): OpenElements {
  return { names: [], lost: false };
}

export function quotes({ names, lost }: OpenElements): boolean {
  return lost || names.length > 0;
}

/** Goes through the tags of a piece of HTML. Tags that cross are taken for ones that never end: browsers mend them in ways of their own. */
export function followHtml(open: OpenElements, html: string): void {
  const rest = html.replaceAll(COMMENT_OR_TAG, (_, slash?: string, tag?: string) => {
    const name = tag?.toLowerCase();
    if (name !== undefined && ENCLOSING.has(name)) slash === "/" ? close(open, name) : open.names.push(name);
    return "";
  });
  if (/<[A-Za-z/!?]/.test(rest)) open.lost = true;
}

function close(open: OpenElements, name: string): void {
  const at = open.names.lastIndexOf(name);
  if (at === -1) return;
  if (open.names.slice(at + 1).some((inner) => !ENDS_WITH_ITS_PARENT.has(inner))) open.lost = true;
  open.names.length = at;
}
