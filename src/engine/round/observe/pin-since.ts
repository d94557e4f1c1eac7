/**
 * Whether what a run wrote still counts at a revision that Argo CD has seen since: the pin has its value, and no file beside the manifests takes
 * its place. Called by `mirror-facts.ts`, which keeps the answers.
 */
import { committedSources } from "../../../core/argocd/decode/source.ts";
import { overridesOf } from "../../../core/argocd/edit-effect.ts";
import { normalRepo } from "../../../core/argocd/same.ts";
import type { ApplicationView, SourceView } from "../../../core/argocd/views.ts";
import type { Batch, BatchTarget } from "../../../core/run/state/run.ts";
import type { Commits } from "../../config-repo/commits.ts";
import { overrideSince } from "../../lint/edited.ts";
import type { Pins } from "../../resolve/pin-values.ts";
import type { PinDiffers } from "./facts.ts";

type AskPin = (
  batch: Batch,
  target: BatchTarget,
  merged: string,
  seen: string,
  application: ApplicationView | undefined,
) => Promise<PinDiffers | "unknown" | null>;

export function openPinSince(repoURL: string, commits: Commits, pins: Pins): AskPin {
  const isBase = ({ repoURL: url }: SourceView) => normalRepo(url) === normalRepo(repoURL);

  const askPin: AskPin = async (batch, target, merged, seen, application) => {
    const values = (await pins.writtenAt(seen, batch)).get(target.key);
    // A branch stands in no file.
    if (values === undefined || target.edits.every(({ kind }) => kind === "branch")) return "unknown";
    const edit = target.edits.find((one, index) => one.kind !== "branch" && values[index] !== one.to);
    if (edit === undefined) return await askOverride(target, merged, seen, application);
    return { commit: (await commits.lastTouchAfter(merged, seen, edit.kind === "copy" ? `${edit.file}/` : edit.file))?.sha ?? seen };
  };

  /** A file that stands beside the manifests since the merge, as Image Updater writes it, and takes the pin's place. */
  async function askOverride(
    { edits }: BatchTarget,
    merged: string,
    seen: string,
    application: ApplicationView | undefined,
  ): Promise<PinDiffers | null> {
    if (application === undefined) return null;
    const own = { name: application.name, sources: committedSources(application.spec), isBase };
    const written = (commit: string) =>
      commits.snapshot(commit).with((files) => new Map(overridesOf(own, files).map((file) => [file, files.read(file)])));
    const [was, is] = [await written(merged), await written(seen)];
    if ([...is].every(([file, text]) => was.get(file) === text)) return null;
    const override = await commits.snapshot(seen).with((files) => overrideSince(own, edits, files));
    if (override === undefined || was.get(override) === is.get(override)) return null;
    return { commit: (await commits.lastTouchAfter(merged, seen, override))?.sha ?? seen, override };
  }

  return askPin;
}
