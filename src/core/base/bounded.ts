/** A map of so many entries at most forgets the oldest one for a new one; an entry that is set again counts as new. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  override set(key: K, value: V): this {
    this.delete(key);
    super.set(key, value);
    for (const oldest of this.keys()) {
      if (this.size <= this.#most) break;
      this.delete(oldest);
    }
    return this;
  }
}

/** A set of so many members at most forgets the oldest one for a new one; a member that is added again stays as old as it was. */
export class BoundedSet<T> extends Set<T> {
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  override add(member: T): this {
    super.add(member);
    for (const oldest of this) {
      if (this.size <= this.#most) break;
      this.delete(oldest);
    }
    return this;
  }
}
