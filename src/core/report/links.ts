import type { Run } from "../run/state/run.ts";

/** Returns where an Application is shown, by its key `controlPlane/namespace/name`; undefined where nobody said where its control plane's pages are. */
export type LinkTo = (key: string) => string | undefined;

export function applicationLinks(pagesOf: (plane: string) => string | undefined): LinkTo {
  return (key) => {
    const [plane = "", namespace = "", name = ""] = key.split("/");
    const pages = pagesOf(plane)?.replace(/(?<!\/)\/+$/, "");
    return pages && `${pages}/applications/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
  };
}

/** The links of a node, by their names; those without an address are left out. */
export function linksOf(urls: Readonly<Record<string, string | undefined>>): { name: string; url: string }[] {
  return Object.entries(urls).flatMap(([name, url]) => (url === undefined ? [] : [{ name, url }]));
}

/** The address of the release PR, which stands beside those of the batches: the journal has no other. */
export function releaseUrl({ trigger: { pull }, batches }: Pick<Run, "trigger" | "batches">): string | undefined {
  const beside = batches.map((batch) => batch.pull?.url ?? "").find((url) => /\/\d+$/.test(url));
  return pull === undefined ? undefined : beside?.replace(/\d+$/, String(pull));
}
