type Labels = Readonly<Record<string, string>>;

/** Something a selector may look at: `name` and `server` stand in where no label has that key. */
export interface Selectable {
  name: string;
  server?: string;
  labels: Labels;
}

/** Compiles a Kubernetes label selector. An empty one matches everything; `NotIn` holds where the label is absent. */
export function matcher(selector: Selector): (item: Selectable) => boolean {
  return compileSelector(selector, labelOf);
}

/** As `matcher`, of labels alone: nothing stands in for a label that is absent. */
export function labelMatcher(selector: Selector): (labels: Labels) => boolean {
  return compileSelector(selector, (labels, key) => (Object.hasOwn(labels, key) ? labels[key] : undefined));
}

function compileSelector<T>({ matchLabels, matchExpressions }: Selector, read: (item: T, key: string) => string | undefined) {
  const tests = Object.entries(matchLabels).map(
    ([key, value]) =>
      (item: T) =>
        read(item, key) === value,
  );
  for (const { key, operator, values } of matchExpressions) {
    const set = new Set(values);
    if (operator === "In") tests.push((item) => has(set, read(item, key)));
    if (operator === "NotIn") tests.push((item) => !has(set, read(item, key)));
    if (operator === "Exists") tests.push((item) => read(item, key) !== undefined);
    if (operator === "DoesNotExist") tests.push((item) => read(item, key) === undefined);
  }
  return (item: T): boolean => {
    for (const test of tests) if (!test(item)) return false;
    return true;
  };
}

export function matches(selector: Selector, item: Selectable): boolean {
  return matcher(selector)(item);
}

function has(set: ReadonlySet<string>, value: string | undefined): boolean {
  return value !== undefined && set.has(value);
}

/** A label's value; undefined where it is absent. */
export function labelOf(item: Selectable, key: string): string | undefined {
  if (Object.hasOwn(item.labels, key)) return item.labels[key];
  if (key === "name") return item.name;
  if (key === "server") return item.server;
  return undefined;
}

/** As `kubectl -l` writes it. */
export function formatSelector(selector: Selector): string {
  const parts = Object.entries(selector.matchLabels).map(([key, value]) => `${key}=${value}`);
  for (const { key, operator, values } of selector.matchExpressions) {
    if (operator === "Exists") parts.push(key);
    else if (operator === "DoesNotExist") parts.push(`!${key}`);
    else parts.push(`${key} ${operator === "In" ? "in" : "notin"} (${values.join(",")})`);
  }
  return parts.length === 0 ? "every cluster" : parts.join(",");
}

/** A Kubernetes label selector. Both parts empty: selects everything. */
export interface Selector {
  matchLabels: Record<string, string>;
  matchExpressions: { key: string; operator: (typeof OPERATORS)[number]; values: string[] }[];
}

export const OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist"] as const;

const NAME = /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;
const PREFIX = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LONGEST_PREFIX = 253;

/** Says whether Kubernetes takes a text as the key of a label: a name, perhaps after a DNS prefix and a slash. */
export function isLabelKey(key: string): boolean {
  const slash = key.indexOf("/");
  if (slash === -1) return NAME.test(key);
  return slash <= LONGEST_PREFIX && PREFIX.test(key.slice(0, slash)) && NAME.test(key.slice(slash + 1));
}

/** Says whether Kubernetes takes a text as the value of a label. */
export function isLabelValue(value: string): boolean {
  return value === "" || NAME.test(value);
}
