/** The schema of `spec.release`: which version, or which values together, a rollout carries. */
import { z } from "zod";
import { key, text } from "./schema-common.ts";

const place = z.strictObject({
  file: key(text.min(1), "File in the config repo."),
  path: key(text.min(1), "Pin path in it."),
});

const VALUE_NAME = z.string().regex(/^[A-Za-z][A-Za-z0-9_]*$/);

/** Exactly one of path and paths; see the rules. */
const fromSchema = z.strictObject({
  file: key(text.min(1), "File in the config repo."),
  path: key(text.min(1).optional(), "Pin path of the version in it."),
  paths: key(
    z.record(VALUE_NAME, text.min(1)).optional(),
    "Pin paths by name, in place of `path`: values that are released together. Each pin says which one it writes, by `{{ release.values.NAME }}`.",
  ),
});

/** Exactly one of version, from, values, commit, tag; see the rules. */
export const releaseSchema = z.strictObject({
  version: key(text.min(1).optional(), "The version itself, in this file."),
  from: key(fromSchema.optional(), "A value in another file of the repo, or several."),
  values: key(
    z.record(VALUE_NAME, z.union([text.min(1), place])).optional(),
    "Several values by name: texts, or `{file, path}`. Used as `{{ release.values.NAME }}`.",
  ),
  commit: key(
    z
      .strictObject({
        paths: key(
          z.array(text.min(1)).min(1),
          "Globs from the repo's root: `*` within a folder, `**` over folders; a leading `!` takes paths out again.",
        ),
      })
      .optional(),
    "The merge commit of any pull request that touches these paths is the release: its id is the version.",
  ),
  tag: key(
    z
      .union([
        text.min(1),
        z.strictObject({
          range: key(text.min(1), "Semver range, such as `>=1.0.0 <2` or `^1.4`."),
          prefix: key(
            text.min(1).optional(),
            "What stands before the version in the tag's name, such as `payments-`. Default: none, or `v`.",
          ),
        }),
      ])
      .optional(),
    "The newest Git tag (or GitHub release, which has one) in this semver range: a text, or `{range, prefix}`. The tag's name is the version.",
  ),
  attempt: key(z.int().min(1).default(1), "Raise it to release the same version again."),
});
