import { commandOfParts } from "../args.ts";

const HELP = `Usage: stagecoach sim PART [ARGS…]

The parts of the embedded world on their own, for trying the bot against one real part at a time.

  github  one config repo on an embedded GitHub
  argocd  an embedded Kubernetes API and an Argo CD that follows a repo
`;

/** `stagecoach sim github|argocd …`. */
export const run = commandOfParts("sim", HELP, {
  github: () => import("./github.ts"),
  argocd: () => import("./argocd.ts"),
});
