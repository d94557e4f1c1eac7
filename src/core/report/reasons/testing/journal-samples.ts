/** Of the journal: a sample for each field that no other table has, and where a code is said in several ways, what differs. */
export const JOURNAL_FIELDS = {
  ...{ app: "stagecoach[bot]", subject: "payments #42: merged", email: "bob@example.com", trailer: "Stagecoach-App" },
  ...{ rules: ["creation", "required_signatures"] },
  ...{ reads: 2, target: "hub/argocd/payments-eu-1", shard: 2, key: "1f8ac10f" },
};

export const JOURNAL_VARIANTS = {
  SIGNATURE_FAULT: ["NoSsh", "Damaged", "Newer", "OtherKey", "OtherUse", "Mismatch"].map((fault) => ({ fault })),
  JOURNAL_FORMAT: [{ has: "3" }],
  SEAL_NEWER: [{ has: "v2" }],
  JOURNAL_OTHER_APP: [{ owner: "other[bot]" }],
  JOURNAL_NO_FILE: [{ indexed: true }, { indexed: false }],
  JOURNAL_FOREIGN: [{ because: { code: "NOT_SEALED" } }],
  PERMISSION_LACKING: [{ needs: "issues=write" }, { needs: undefined }],
  JOURNAL_FILE: [{ because: { code: "JOURNAL_NO_FILE", indexed: false } }],
};
