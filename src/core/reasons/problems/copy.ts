/** What is wrong with pins that copy a directory: as they are written, and as they are planned. */
export interface CopyProblems {
  COPY_OVERLAP: { kind: "Same" | "ToInside" | "FromInside"; from: string; to: string };
  /** A directory that is to be copied, or over. */
  COPY_FOLDER:
    | { kind: "Missing"; folder: string; near?: string | undefined }
    | { kind: "File"; folder: string }
    | { kind: "Link" | "Submodule"; folder: string; at: string }
    | { kind: "Many" | "Large"; folder: string; most: number }
    | { kind: "Unread"; folder: string; said: string };
  /** Two places that one batch would write over one another. */
  COPY_SHARED: { kind: "Inside" | "Itself" | "Sources" | "Chain"; folder: string; other: string; application: string };
}
