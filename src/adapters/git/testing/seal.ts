import { openSeal, sealKey } from "../journal/seal.ts";

/** What journals in tests are sealed with. */
export const SEAL_SECRET = "a secret for journals in tests, and for nothing else";
export const SEAL = openSeal([sealKey(SEAL_SECRET)], "1");
