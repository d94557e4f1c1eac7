/** Which keys of an object to keep: `false` drops, `true` keeps as it is, a shape goes in. `*`: all others (default keep). */
export interface Shape {
  readonly [key: string]: Shape | Seldom | boolean;
}

/** Of a long list that seldom matters: it is kept, by its shape, where one of these texts stands in it, and is empty elsewhere. */
export class Seldom {
  readonly shape: Shape;
  readonly texts: readonly string[];
  constructor(shape: Shape, ...texts: readonly string[]) {
    this.shape = shape;
    this.texts = texts;
  }
}

/** A shape with its keys as bytes: what is dropped gets no text for its key either. */
export interface Rule {
  keys: { name: string; bytes: Uint8Array; rule: Rule | boolean }[];
  others: Rule | boolean;
  seldom?: readonly string[];
}

function compiled(shape: Shape): Rule {
  const keys = Object.entries(shape).map(([name, of]) => ({ name, bytes: Buffer.from(name), rule: ruleOf(of) }));
  return { keys, others: ruleOf(shape["*"] ?? true) };
}

export function ruleOf(of: Shape | Seldom | boolean): Rule | boolean {
  if (of instanceof Seldom) return { ...compiled(of.shape), seldom: of.texts };
  return typeof of === "boolean" ? of : compiled(of);
}
