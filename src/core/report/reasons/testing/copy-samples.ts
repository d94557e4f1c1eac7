import type { CopyProblems } from "../../../reasons/problems/copy.ts";
import type { ProblemCode, ProblemData } from "../../../reasons/problems/problem.ts";

export const COPY_SAMPLES: Samples<keyof CopyProblems> = {
  COPY_OVERLAP: [
    { kind: "Same", from: "env/prod", to: "env/prod" },
    { kind: "ToInside", from: "env", to: "env/prod" },
    { kind: "FromInside", from: "env/prod/base", to: "env/prod" },
  ],
  COPY_FOLDER: [
    { kind: "Missing", folder: "env/stagin", near: "env/staging" },
    { kind: "Missing", folder: "env/stagin" },
    { kind: "File", folder: "env/prod" },
    { kind: "Link", folder: "env/staging", at: "values.yaml" },
    { kind: "Submodule", folder: "env/staging", at: "charts/base" },
    { kind: "Many", folder: "env/staging", most: 1000 },
    { kind: "Large", folder: "env/staging", most: 33_554_432 },
    { kind: "Unread", folder: "env/staging", said: "env is a symbolic link; name the real directory" },
  ],
  COPY_SHARED: [
    { kind: "Inside", folder: "env/prod", other: "env/prod/eu", application: "payments-eu" },
    { kind: "Itself", folder: "env/staging", other: "env/staging", application: "payments-staging" },
    { kind: "Chain", folder: "env/prod", other: "env/staging", application: "payments-prod" },
    { kind: "Sources", folder: "env/prod", other: "env/staging", application: "payments-eu" },
  ],
};

/** Data of each code in each of its kinds, at least one. */
export type Samples<Codes extends ProblemCode> = { readonly [Code in Codes]: readonly [ProblemData<Code>, ...ProblemData<Code>[]] };
