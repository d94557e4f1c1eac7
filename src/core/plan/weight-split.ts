/**
 * So many replicas over so many clusters, as evenly as whole ones can be: what is left over goes to the first, one each. The
 * same numbers give the same split, and more replicas never give a cluster fewer. `clusters` at least 1.
 */
export function splitReplicas(replicas: number, clusters: number): number[] {
  const each = Math.floor(replicas / clusters);
  const over = replicas - each * clusters;
  return Array.from({ length: clusters }, (_, place) => (place < over ? each + 1 : each));
}

/** How many of the replicas a weight in percent means: rounded up, so that a weight above 0 is at least one. */
export function weighed(replicas: number, weight: number): number {
  return Math.ceil((replicas * weight) / 100);
}
