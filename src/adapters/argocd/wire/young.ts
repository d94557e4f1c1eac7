import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

/** Semi-spaces of about 16 MB: large enough for whatever one page leaves behind. */
const ENOUGH_BYTES = 24e6;
let bounded = false;

/**
 * Keeps V8 from growing the space for young objects once it is large enough. Reading a large Argo CD leaves garbage at a
 * steady pace, which V8 takes as a reason to let up to 100 MB of it pile up before it looks. Cheap; to be called while reading.
 */
export function boundYoungGeneration(): void {
  if (bounded) return;
  const young = getHeapSpaceStatistics().find((space) => space.space_name === "new_space");
  if ((young?.space_size ?? 0) < ENOUGH_BYTES) return;
  bounded = true;
  setFlagsFromString("--semi-space-growth-factor=1");
}
