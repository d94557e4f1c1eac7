import type { CopyProblems } from "../../../reasons/problems/copy.ts";
import { didYouMean, problemsOf } from "./entry.ts";

const PLAIN_FOLDER = "name a directory of the repo itself";
const APART = "give each target a directory of its own, and copy all of them from one that no pin writes";

/** Directories that cannot be copied, or not to where they would be. */
export const COPY_PROBLEMS = problemsOf<CopyProblems>()({
  COPY_OVERLAP: {
    says: {
      kind: {
        Same: "{from} would be copied over itself",
        ToInside: "{to} is inside of {from}, so the copy would hold itself",
        FromInside: "{from} is inside of {to}, so the copy would replace what it is made from",
      },
    },
    hint: "name two directories, neither of them in the other",
    means: "a directory that would be copied over itself, or into itself",
  },
  COPY_FOLDER: {
    says: {
      kind: {
        Missing: "the directory {folder} does not exist",
        File: "{folder} is a file, and a directory is copied",
        Link: "{folder} holds a symbolic link that leads out of it: {at}",
        Submodule: "{folder} holds a submodule[: {at}]",
        Many: "{folder} holds more than {most} files",
        Large: ({ folder, most }) => `${folder} holds more than ${Math.floor(most / 1024 / 1024)} MiB`,
        Unread: "the directory {folder} cannot be read: {said}",
      },
    },
    hint: {
      kind: {
        Missing: ({ near }) => didYouMean(near, "add the directory, or correct copy.from"),
        ...{ File: PLAIN_FOLDER, Unread: PLAIN_FOLDER },
        Link: "put the file itself there, or let the link lead to one inside of the directory",
        Submodule: "name a directory whose files are in this repo",
        ...{ Many: "name the directories below it, each in a pin of its own", Large: "name a smaller directory" },
      },
    },
    means: "a directory of a `copy` is missing, is none, or holds what cannot be copied",
    todo: "name one with plain files, at most 1,000 of 32 MiB",
  },
  COPY_SHARED: {
    says: {
      kind: {
        Inside: "{folder} and {other} lie in one another, and both are written, so a batch for {application} would move more than its own",
        Itself: "{application} is taken, too, and {folder} would be copied over itself",
        Chain: "{folder} would be copied from {other}, which another pin writes: {application} would get what stood there before",
        Sources: "{folder} would be a copy of two directories, {other} among them for {application}",
      },
    },
    hint: {
      kind: {
        Itself: "leave {application} out by spec.sourceRef.selector, such as by matchExpressions with operator NotIn",
        ...{ Inside: APART, Chain: APART, Sources: APART },
      },
    },
    means: "two pins write to one place",
  },
});
