import { FieldFailure } from "./failures.ts";

export interface ConnectionArgs {
  first?: number | null;
  last?: number | null;
  after?: string | null;
  before?: string | null;
}

function cursorOf(index: number): string {
  return Buffer.from(`cursor:v2:${index}`).toString("base64");
}

function indexOf(cursor: string): number {
  const [, index] = /^cursor:v2:(\d+)$/.exec(Buffer.from(cursor, "base64").toString()) ?? [];
  if (index === undefined) throw new FieldFailure("UNPROCESSABLE", `\`${cursor}\` does not appear to be a valid cursor.`);
  return Number(index);
}

/** A page of a list. GitHub wants `first` or `last`, of at most 100. */
export function connection<T>(name: string, items: readonly T[], args: ConnectionArgs, print: (item: T) => unknown) {
  const asked = args.first ?? args.last;
  if (asked === undefined || asked === null) {
    throw new FieldFailure("VALIDATION", `You must provide a \`first\` or \`last\` value to properly paginate the \`${name}\` connection.`);
  }
  if (asked > 100 || asked < 0) {
    throw new FieldFailure(
      "VALIDATION",
      `Requesting ${asked} records on the \`${name}\` connection exceeds the \`${args.first == null ? "last" : "first"}\` limit of 100 records.`,
    );
  }
  let from = args.after == null ? 0 : indexOf(args.after) + 1;
  let to = args.before == null ? items.length : indexOf(args.before);
  if (args.first != null) to = Math.min(to, from + args.first);
  else from = Math.max(from, to - asked);
  const shown = items.slice(from, to).map((item, at) => ({ cursor: cursorOf(from + at), node: print(item) }));
  return {
    totalCount: items.length,
    nodes: shown.map((edge) => edge.node),
    edges: shown,
    pageInfo: {
      hasNextPage: to < items.length,
      hasPreviousPage: from > 0,
      startCursor: shown[0]?.cursor ?? null,
      endCursor: shown.at(-1)?.cursor ?? null,
    },
  };
}
