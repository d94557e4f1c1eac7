/** Words by which people call environments and regions, and their order. Called by onboarding, and by plans, which tell where two meet in one Application. */

/** From furthest from customers to nearest. */
const RANKS: readonly RegExp[] = [
  /^(?:sandbox|sbx|playground|lab|poc|local|ephemeral)$/,
  /^(?:dev|devel|develop|development|alpha)$/,
  /^(?:ci|int|integration|test|tests|testing|tst)$/,
  /^(?:qa|sit|qas|beta)$/,
  /^(?:uat|acc|acceptance|demo|perf)$/,
  /^(?:stag|stage|staging|stg|nonprod)$/,
  /^(?:pre|preprod|preprd|preproduction|preview)$/,
  /^(?:canary|early|pilot)$/,
  /^(?:prod|prd|pro|production|live|ga)$/,
];

/** `euw1`, `us`, `eu-west-1`: one word of them. `svc1` is none, though it ends as they do. */
const REGION =
  /^(?:eu|us|ap|ca|sa|me|af|uk|de|fr|cn|jp|in|au|apac|emea|amer|latam|asia|europe|america|africa|global|west|east|north|south|central|northeast|southeast|northwest|southwest|(?:eu|us|usgov|ap|an|as|na|ca|sa|me|af|il|mx|uk|de|fr|cn|jp|in|au)[nsewc]{1,2}\d{1,2}|(?:west|east|north|south|central)(?:eu|us|europe)\d?)$/;

/** How far an environment of this name is from customers, the furthest 0; undefined: it is no name of one. `dev2` is as `dev`. */
export function rankOf(word: string): number | undefined {
  const plain = joined(word).replace(/\d+$/, "");
  const rank = RANKS.findIndex((pattern) => pattern.test(plain));
  return rank < 0 ? undefined : rank;
}

/** `pre-prod` and `non-prod` are one word. */
function joined(word: string): string {
  return word.toLowerCase().replace(/^(pre|non)[-_](prod(?:uction)?|prd)/, "$1$2");
}

export function isRegionWord(word: string): boolean {
  return REGION.test(word.toLowerCase());
}

/** Words of a name, as dashes, dots and slashes part it. */
function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .replaceAll(/\b(pre|non)[-_](?=prod|prd)/g, "$1")
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
}

/** The last word of a text that names an environment: `shop-prod-eu` is `prod`. */
export function environmentIn(text: string): string | undefined {
  return wordsOf(text).findLast((word) => rankOf(word) !== undefined);
}

/** Compares by distance from customers; numbers (`wave-2`) as numbers; what says nothing comes after what is known to be early. */
export function compareEnvironments(a: string, b: string): number {
  const [first, second] = [rankIn(a), rankIn(b)];
  const unknown = RANKS.length - 2.5;
  if (first !== undefined || second !== undefined) {
    const difference = (first ?? unknown) - (second ?? unknown);
    if (difference !== 0) return difference;
  }
  return a.localeCompare(b, "en", { numeric: true });
}

/** Of a whole value: `prod-eu` ranks as `prod`. */
export function rankIn(value: string): number | undefined {
  const own = rankOf(value);
  if (own !== undefined) return own;
  const word = environmentIn(value);
  return word === undefined ? undefined : rankOf(word);
}
