import { type SealKeys, sealKey } from "../../src/adapters/git/journal/seal.ts";
import { type JourneyOptions, short } from "../support/journey.ts";

/** Of the recorded journals: a secret that is nobody's. */
export const SEALED_BY: SealKeys = [sealKey("of recorded journals, and of nothing else")];

/** The world that is recorded in the middle of a run, and put back: what is deployed is of another repository, so that no file names a port. */
export const RECORDED: JourneyOptions = {
  files(files) {
    short({ bake: "10m" })?.(files);
    for (const [path, text] of files)
      files.set(path, text.replaceAll(/http:\/\/127\.0\.0\.1:\d+\/acme\/fleet\.git/g, "https://github.com/acme/app.git"));
  },
  bot: () => ({ sealKeys: SEALED_BY }),
};
