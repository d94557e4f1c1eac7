/** Returns where an Application is shown, by its key `controlPlane/namespace/name`; undefined where nobody said where its control plane's pages are. */
export type LinkTo = (key: string) => string | undefined;

export function applicationLinks(pagesOf: (plane: string) => string | undefined): LinkTo {
  return (key) => {
    const [plane = "", namespace = "", name = ""] = key.split("/");
    const pages = pagesOf(plane)?.replace(/(?<!\/)\/+$/, "");
    return pages && `${pages}/applications/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
  };
}
