import type { SetProblems } from "../../../reasons/problems/set.ts";
import { firstOf } from "../../markdown.ts";
import { sayRender } from "../render.ts";
import { problemsOf } from "./entry.ts";
import { saySlip } from "./syntax.ts";

/** The manifest of an ApplicationSet, who applies it. */
export const SET_PROBLEMS = problemsOf<SetProblems>()({
  PARENT_BY_HAND: {
    says: "its parent Application {parent}, which applies {set}, does not sync by itself: after each batch a person would have to sync it",
    hint: "switch automated sync of {parent} on",
    means: "the Application that applies the ApplicationSet waits for a person",
    warns: true,
  },
  SET_AMBIGUOUS: {
    says: (r) =>
      `ApplicationSet ${r.set} is declared by ${r.files.join(" and by ")}: neither the pins nor what runs tells which of them Argo CD has`,
    hint: "take out the one that nobody applies, or name the namespace in each",
    means: "several files declare the ApplicationSet, and which of them Argo CD has cannot be told",
    todo: "take out the one that nobody applies; where each hub has its own, name the control planes in `sourceRef.controlPlane`",
  },
  SET_FED: {
    says: "Helm makes ApplicationSet {set} by {template}, and {pinned} holds a pin that it is made from: only an Argo CD that is read with `kind: api` can say what a batch would change, else each is refused",
    hint: "pin files that the generators of the set read from Git (`git: files`), which the chart does not take in; or set sourceRef.unverified",
    means: "pins are values of the chart that makes the ApplicationSet: only Argo CD itself can say what a batch would change",
    todo: "with `kind: api` nothing: Argo CD is asked. Else let a generator of the set read a file for each cluster from Git (`git: files`) and pin that: the set that Argo CD has is then rendered before and after each batch. `sourceRef.unverified: true` goes on without that proof",
    warns: true,
  },
  APPLICATION_CHANGED: {
    says: (r) =>
      `kustomize changes ${firstOf(r.applications, 3)} before Argo CD has them (${r.by} in ${r.folder}), and here they are planned as their files say`,
    hint: "give --inventory with the Applications that Argo CD has, or --from-argocd",
    means:
      "a kustomization changes name, namespace, destination, source or labels of the rollout's Applications: Argo CD has others than their files say",
    warns: true,
  },
  BATCH_REFUSED: {
    says: (r) => `the first batch (${firstOf(r.applications, 3)}) would be refused as things are now: ${r.said}`,
    hint: "set it right before the release is merged: the run would stand still at its first batch",
    means: "the plan's first batch is one that the bot would not propose, as things are now",
    todo: "[why a batch is refused](#why-a-batch-is-refused) has each reason; as a warning it may pass by itself, such as a set that its parent has still to sync",
  },
  READ_OUTSIDE: {
    says: (r) =>
      `${r.changed} holds a pin, and ${r.application}${r.others === 0 ? "" : ` and ${r.others} more`} would change with it, which the pin is not for: every batch that changes the file would be refused`,
    hint: "give each cluster a file of its own, or let the pin's path name the cluster",
    means: "a file with pins is read by Applications that the rollout does not move by them",
  },
  PARENT_READS: {
    says: "{changed} holds a pin, and {parent}, which applies the rollout's ApplicationSet, reads it, too: only an Argo CD that is read with `kind: api` can say what else a batch would change, else each is refused",
    hint: "read Argo CD with `kind: api` and a token that may `get` {parent}, or pin files that only generators or the Applications themselves read",
    means: "what applies the ApplicationSet is made from a file with pins, so that only Argo CD itself can say what a batch would change",
    todo: "with `kind: api` nothing: Argo CD is asked before each merge. Else pin files that only generators or the Applications themselves read",
    warns: true,
  },
  SET_BROKEN: {
    says: {
      kind: {
        Yaml: "the file that declares ApplicationSet {set} is not YAML: {said}",
        Json: "the file that declares ApplicationSet {set} is not JSON: {said}",
        Slip: (r) => `the file that declares ApplicationSet ${r.set} is not YAML: ${saySlip(r.slip).message}`,
        Render: (r) => `Argo CD would not take the ApplicationSet in ${r.set}: ${r.problem.where}: ${sayRender(r.problem).message}`,
      },
    },
    hint: {
      kind: {
        Yaml: "correct it there",
        Json: "correct it there",
        Slip: (r) => saySlip(r.slip).hint,
        Render: (r) => sayRender(r.problem).hint,
      },
    },
    means: "the ApplicationSet in Git is broken",
  },
  SETS_OVERLAP: {
    says: (r) => `ApplicationSets ${r.sets.join(" and ")} both make ${firstOf(r.applications, 3)}: Argo CD leaves each to one of them`,
    hint: "give what one of them makes another name, or take the clusters out of its generators",
    means: "two ApplicationSets of the rollout make an Application of the same name: the pin of one of them would reach nobody",
    todo: "let the sets make different Applications",
  },
  NO_GENERATE_PATHS: {
    says: "{applications} Applications follow this repo of {files} files without {annotation}: Argo CD renders all of them anew at every push, and sees changes late",
    hint: "add the annotation {annotation} to the template, with every file and folder that the Application is made from: {right}",
    means: "every push makes Argo CD render everything that follows this repo",
    warns: true,
  },
  PATHS_NOT_COVERED: {
    says: (r) =>
      `${firstOf(r.applications, 3)}: a batch would change ${r.changed}, which ${r.annotation} (${r.paths}) leaves out, so that Argo CD would render nothing anew and show the new revision all the same; it must be ${r.right}`,
    hint: "let the annotation be {right}, in the template",
    means:
      "`manifest-generate-paths` do not cover a file that the pins stand in: Argo CD would call the old version by the new revision's name",
    todo: "let the annotation name every file and folder that the Application is made from; [docs/argocd.md](argocd.md) has how",
  },
  PIN_IMAGES_DIFFER: {
    says: ({ images, pinPath }) =>
      `${pinPath} is a different image from one to another: ${images.map(({ image, application }) => `${image} in ${application}`).join(", ")}; they would all get the same version`,
    hint: "choose the item by its name, such as `images[name=shop]`; where images are plain text, put them in the same order",
    means: "a pin goes by a place in a list, where other Applications have another image: that one would get the release's version",
    todo: "choose the item by its name, or put images in the same order everywhere",
  },
  PIN_WITHOUT_EFFECT: {
    says: (r) =>
      `another version in ${firstOf(r.files, 3)} would change nothing in ${firstOf(r.applications, 3)}${r.override === undefined ? "" : `, while ${r.override} is there, which overrides what they are made from`}`,
    hint: ({ override }) =>
      override === undefined
        ? "pin what it is made from: the template has to use the parameter, a later generator, patch or values file must not override it"
        : "remove that file, and take the image out of Argo CD Image Updater, which writes such files (`write-back-method: git`)",
    means:
      "the pin could hold any version and Argo CD would render the same: nothing uses it, or something later overrides it (a generator of a `merge`, a `templatePatch`, a values file, a parameter, a file `.argocd-source-…` of Argo CD Image Updater)",
    todo: "let the template use what is pinned, or pin what it uses; take away what overrides it",
  },
});
