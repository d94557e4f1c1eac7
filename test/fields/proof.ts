/** Where a field or a command is proven: `FILE › TITLE` of a pure test and of a scenario in the embedded world, `FILE › TEXT` of a report. */
export interface Proof {
  pure: string;
  world: string;
  report: string;
}

/** A line a proof: `names | pure | world | report`. */
export function proofs(table: string): Map<string, Proof> {
  const found = new Map<string, Proof>();
  for (const line of table.trim().split("\n")) {
    const [names = "", pure = "", world = "", report = ""] = line.split(" | ");
    for (const name of names.split(" ")) {
      if (found.has(name)) throw new Error(`${name} stands there twice`);
      found.set(name, { pure, world, report });
    }
  }
  return found;
}
