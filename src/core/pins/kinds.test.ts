import { expect, test } from "vitest";
import { splice } from "./splice.ts";

const DIGEST = (sign: string) => `sha256:${sign.repeat(64)}`;

const application = (source: string) => `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: { name: web-eu }
spec:
  source:
${source}  destination: { name: eu }
`;

/** Places where teams keep versions: each is written, and not a byte else. */
test.each<[place: string, text: string, edits: [path: string, from: string, to: string][]]>([
  [
    "helm.valuesObject",
    application("    helm:\n      valuesObject:\n        image: { tag: v3.1 } # web\n        replicas: 2\n"),
    [["spec.source.helm.valuesObject.image.tag", "v3.1", "v3.2"]],
  ],
  [
    "helm.parameters",
    application(
      "    helm:\n      parameters:\n        - { name: image.tag, value: v3.1 }\n        - name: replicas\n          value: '2'\n",
    ),
    [['spec.source.helm.parameters[name="image.tag"].value', "v3.1", "v3.2"]],
  ],
  [
    "a dependency of an umbrella chart",
    "apiVersion: v2\nname: umbrella\nversion: 0.1.0\ndependencies:\n  - name: shop # ours\n    version: 1.2.0\n    repository: oci://ghcr.io/acme\n",
    [["dependencies[name=shop].version", "1.2.0", "1.3.0"]],
  ],
  [
    "the targetRevision of a chart in an OCI registry",
    application("    repoURL: oci://ghcr.io/acme/web\n    path: .\n    targetRevision: 1.2.0\n"),
    [["spec.source.targetRevision", "1.2.0", "1.3.0"]],
  ],
  [
    "kustomize's tag and the digest beside it",
    `images:\n- name: web\n  newTag: v1 # with its digest\n  digest: ${DIGEST("a")}\n- name: other\n  newTag: v7\n`,
    [
      ["images[name=web].newTag", "v1", "v2"],
      ["images[name=web].digest", DIGEST("a"), DIGEST("b")],
    ],
  ],
])("%s", (_place, text, edits) => {
  const result = splice(
    text,
    edits.map(([path, , value]) => ({ path, value })),
  );
  expect(result).toEqual({
    ok: true,
    text: edits.reduce((all, [, from, to]) => all.replace(from, to), text),
    found: edits.map(([, from]) => expect.objectContaining({ value: from })),
  });
});
