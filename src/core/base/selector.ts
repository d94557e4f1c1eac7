type Labels = Readonly<Record<string, string>>;

/** Something a selector may look at: `name` and `server` stand in where no label has that key. */
export interface Selectable {
  name: string;
  server?: string;
  labels: Labels;
}

/** Compiles a Kubernetes label selector. An empty one matches everything; `NotIn` holds where the label is absent. */
export function matcher(selector: Selector): (item: Selectable) => boolean {
  const tests: ((item: Selectable) => boolean)[] = Object.entries(selector.matchLabels).map(
    ([key, value]) =>
      (item) =>
        labelOf(item, key) === value,
  );
  for (const { key, operator, values } of selector.matchExpressions) {
    const set = new Set(values);
    if (operator === "In") tests.push((item) => has(set, labelOf(item, key)));
    if (operator === "NotIn") tests.push((item) => !has(set, labelOf(item, key)));
    if (operator === "Exists") tests.push((item) => labelOf(item, key) !== undefined);
    if (operator === "DoesNotExist") tests.push((item) => labelOf(item, key) === undefined);
  }
  return (item) => {
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
  matchExpressions: { key: string; operator: "In" | "NotIn" | "Exists" | "DoesNotExist"; values: string[] }[];
}
