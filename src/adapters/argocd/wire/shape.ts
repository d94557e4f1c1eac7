/** Which keys of an object to keep: `false` drops, `true` keeps as it is, a shape goes in. `*`: all others (default keep). */
export interface Shape {
  readonly [key: string]: Shape | Seldom | boolean;
}

/** Of a long list that seldom matters: it is kept, by its shape, where its JSON matches, and is empty elsewhere. Of ASCII only. */
export class Seldom {
  readonly shape: Shape;
  readonly where: RegExp;
  constructor(shape: Shape, where: RegExp) {
    this.shape = shape;
    // What is escaped may be any text.
    this.where = new RegExp(`\\\\u|${where.source}`);
  }
}

/** A shape with its keys as bytes: what is dropped gets no text for its key either. */
export interface Rule {
  keys: { name: string; bytes: Uint8Array; rule: Rule | boolean }[];
  others: Rule | boolean;
  seldom?: RegExp;
}

function compiled(shape: Shape): Rule {
  const keys = Object.entries(shape).map(([name, of]) => ({ name, bytes: Buffer.from(name), rule: ruleOf(of) }));
  return { keys, others: ruleOf(shape["*"] ?? true) };
}

export function ruleOf(of: Shape | Seldom | boolean): Rule | boolean {
  if (of instanceof Seldom) return { ...compiled(of.shape), seldom: of.where };
  return typeof of === "boolean" ? of : compiled(of);
}
