import type { Gauge } from "prom-client";

/** Which names become labels. People choose those of rollouts, so there is a bound, and whatever is past it shares one series. */

/** What stands in a label in place of a name that has none of its own. */
export const OTHER = "other";
const LONGEST = 200;

interface Place<Value> {
  value: Value;
  /** It was alive once: one that was only counted yet may be seen alive later. */
  wasAlive: boolean;
}

/** Gives each key a place as long as there are some; a key that is gone leaves its place to another. */
export class Names<Value> {
  readonly #places = new Map<string, Place<Value>>();
  /** Of those alive, how many have no place. */
  leftOut = 0;
  #alive: ReadonlySet<string> = new Set();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** Returns what stands for the key, made when it gets its place; undefined: there is none left. */
  of(key: string, make: () => Value): Value | undefined {
    const known = this.#places.get(key);
    if (known !== undefined || this.#places.size >= this.#most) return known?.value;
    const value = make();
    this.#places.set(key, { value, wasAlive: this.#alive.has(key) });
    return value;
  }

  /** Takes the places of keys away that were there before, and are not any more. Returns what stood for them. */
  keepOnly(alive: ReadonlySet<string>): Value[] {
    const gone: Value[] = [];
    let kept = 0;
    this.#alive = alive;
    for (const [key, place] of this.#places) {
      const isAlive = alive.has(key);
      if (isAlive) kept += 1;
      else if (place.wasAlive) {
        gone.push(place.value);
        this.#places.delete(key);
      }
      place.wasAlive ||= isAlive;
    }
    this.leftOut = Math.max(0, alive.size - kept - Math.max(0, this.#most - this.#places.size));
    return gone;
  }
}

/** How much of a name metrics show: who may read them reads all that stands in them. */
export type ShownNames = "Rollouts" | "Repositories" | "None";

/** The labels of one rollout; the same object as long as it has its place. */
export type RolloutLabels = Readonly<Record<"repository" | "rollout", string>>;

/** The labels of all there are. */
export interface Labels {
  of(repository: string, rollout: string): RolloutLabels;
  ofRepository(repository: string): { repository: string };
  /** Takes in which rollouts there are. Returns the labels that no longer stand for anything. */
  keepOnly(alive: Iterable<{ repository: string; rollout: string }>): RolloutLabels[];
  /** How many have no series of their own. */
  leftOut(): { rollouts: number; repositories: number };
}

const OTHERS: RolloutLabels = { repository: OTHER, rollout: OTHER };
const NOBODY: RolloutLabels = { repository: "", rollout: "" };
/** Stands in no name. */
const SEPARATOR = "\n";

/** `most`: rollouts, and repositories, that have series of their own. */
export function openLabels(shown: ShownNames, most: number): Labels {
  const rollouts = new Names<RolloutLabels>(most);
  const repositories = new Names<RolloutLabels>(most);
  const repositoryOf = (repository: string) =>
    repositories.of(repository, () => ({ repository: repository.slice(0, LONGEST), rollout: "" })) ?? OTHERS;
  return {
    ofRepository: (repository) => ({ repository: shown === "None" ? "" : repositoryOf(repository).repository }),
    of(repository, rollout) {
      if (shown === "None") return NOBODY;
      const place = repositoryOf(repository);
      if (shown === "Repositories" || place === OTHERS) return place;
      const make = () => ({ repository: place.repository, rollout: rollout.slice(0, LONGEST) });
      return rollouts.of(`${repository}${SEPARATOR}${rollout}`, make) ?? OTHERS;
    },
    keepOnly(alive) {
      if (shown === "None") return [];
      const list = [...alive];
      const gone = repositories.keepOnly(new Set(list.map(({ repository }) => repository)));
      if (shown === "Repositories") return gone;
      return rollouts.keepOnly(new Set(list.map(({ repository, rollout }) => `${repository}${SEPARATOR}${rollout}`)));
    },
    leftOut: () => ({ rollouts: rollouts.leftOut, repositories: repositories.leftOut }),
  };
}

/** Puts together what falls under the same labels, of which each rollout has one object: the library is told once for each series. */
export class Sums {
  readonly #values = new Map<RolloutLabels, Map<string, number>>();
  readonly #label: string;

  constructor(label: string) {
    this.#label = label;
  }

  add(of: RolloutLabels, value: string, count: number): void {
    const values = this.#of(of);
    values.set(value, (values.get(value) ?? 0) + count);
  }

  atLeast(of: RolloutLabels, value: string, seconds: number): void {
    const values = this.#of(of);
    values.set(value, Math.max(values.get(value) ?? 0, seconds));
  }

  labels(): Iterable<RolloutLabels> {
    return this.#values.keys();
  }

  /** Sets a gauge anew. */
  into(gauge: Gauge): void {
    gauge.reset();
    for (const [of, values] of this.#values) for (const [value, count] of values) gauge.set({ ...of, [this.#label]: value }, count);
  }

  #of(of: RolloutLabels): Map<string, number> {
    const known = this.#values.get(of) ?? new Map<string, number>();
    this.#values.set(of, known);
    return known;
  }
}
