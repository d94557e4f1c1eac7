import { expect, test } from "vitest";
import { placesOf } from "./source-places.ts";

test.each([
  [{ path: "./apps/shop/overlays/dev/" }, { path: "apps/shop/overlays/dev" }],
  [{ path: "." }, {}],
  [{ chart: "shop" }, {}],
  [{ path: "../../etc" }, { path: "../../etc" }],
  [
    { path: "charts/shop", helm: ["values.yaml", "../../env/dev.yaml"] },
    { path: "charts/shop", valuesFile: "env/dev.yaml" },
  ],
  [{ chart: "shop", helm: ["$values/env/dev/shop.yaml"] }, { valuesFile: "env/dev/shop.yaml" }],
  [
    { path: "charts/shop", helm: ["/env/dev.yaml", "https://example.com/values.yaml"] },
    { path: "charts/shop", valuesFile: "env/dev.yaml" },
  ],
])("an Application of %j has the places %j", ({ helm, ...source }: { path?: string; chart?: string; helm?: string[] }, expected) => {
  const rest = helm === undefined ? {} : { rest: { helm: { valueFiles: helm } } };
  expect(placesOf([{ repoURL: "https://github.com/acme/config", ...source, ...rest }])).toEqual(expected);
});
