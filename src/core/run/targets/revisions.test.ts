import { describe, expect, test } from "vitest";
import type { NamedRevision } from "../state/world.ts";
import { type Bench, batch, bench, bring, guard, judge, pull, round, say, see, targetKey, wants } from "../testing/bench.ts";

const REPO = "git.example/acme/app";
const [FIRST, OTHER] = ["1".repeat(40), "2".repeat(40)];

function inGit(self: Bench, commit: NamedRevision["commit"] | undefined): void {
  const revisions = commit === undefined ? undefined : [{ repoURL: REPO, revision: "v2", commit }];
  self.world = { ...self.world, revisions };
}

function shows(self: Bench, cluster: string, commit: string): void {
  const assessment = self.world.targets.get(targetKey(cluster))?.assessment;
  if (assessment !== undefined) see(self, cluster, { assessment: { ...assessment, shows: [{ repoURL: REPO, revision: "v2", commit }] } });
}

/** The first batch is confirmed at the released commit, the second is open. */
function halfway(commit: NamedRevision["commit"] = FIRST): Bench {
  const self = bench(2);
  inGit(self, commit);
  bring(self, 1, "confirmed");
  bring(self, 2, "open");
  guard(self, 2);
  return self;
}

describe("what the release names is kept as it was at the start", () => {
  test("in the journal, before anything is proposed", () => {
    const self = bench(1);
    inGit(self, FIRST);
    round(self);
    expect(self.run.resolved).toMatchObject([{ repoURL: REPO, revision: "v2", commit: FIRST }]);
    expect(self.last.change).toBe("transition");
  });

  test("a tag that was moved before a merge pauses the run, whatever Argo CD shows, and names both", () => {
    const self = halfway();
    inGit(self, OTHER);
    expect(wants(round(self))).not.toContain("Merge 2");
    expect(self.run.paused).toMatchObject({ kind: "Moved", reason: { code: "REVISION_MOVED", from: FIRST, to: OTHER } });
  });

  test("one that is gone, too", () => {
    const self = halfway();
    inGit(self, null);
    round(self);
    expect(self.run.paused?.reason).toEqual({ code: "REVISION_MOVED", revision: "v2", repo: REPO, from: FIRST });
  });

  test("while Git does not say what it is nothing merges, and it does as soon as that is known", () => {
    const self = halfway();
    inGit(self, undefined);
    expect(wants(round(self))).toEqual([]);
    expect(batch(self.run, 2).why).toHaveCode("REVISION_UNREAD", { repo: "git.example/acme/app", revision: "v2" });
    inGit(self, FIRST);
    expect(wants(round(self))).toContain("Merge 2");
  });

  test("at the start, too: what could not be asked then may have been moved since", () => {
    const self = bench(1);
    bring(self, 1, "open");
    guard(self, 1);
    self.run = { ...self.run, resolved: undefined };
    inGit(self, undefined);
    expect(wants(round(self))).toEqual([]);
    expect(batch(self.run, 1).why).toHaveCode("REVISIONS_UNREAD");
    inGit(self, FIRST);
    expect(wants(round(self))).toContain("Merge 1");
  });

  test("resuming is for nobody while it is another one, and goes on once it is put back", () => {
    const self = halfway();
    inGit(self, OTHER);
    round(self);
    say(self, "/resume");
    round(self);
    expect(self.run.phase).toBe("Paused");
    inGit(self, FIRST);
    say(self, "/resume");
    round(self);
    expect(self.run.phase).toBe("Progressing");
  });
});

describe("where the repository cannot be read, what Argo CD shows is held against itself", () => {
  test("the first cluster's commit is the release's: a second one at another is not confirmed, and pauses the run", () => {
    const self = bench(2);
    inGit(self, "hidden");
    bring(self, 1, "merged");
    judge(self, "c1", "live", "all");
    shows(self, "c1", FIRST);
    round(self);
    expect(self.run.resolved).toMatchObject([{ commit: FIRST, cluster: "hub/c1" }]);
    bring(self, 2, "merged");
    judge(self, "c2", "live", "all");
    shows(self, "c2", OTHER);
    round(self);
    expect(batch(self.run, 2).targets[0]?.confirmedAt).toBeUndefined();
    expect(self.run.paused?.reason).toMatchObject({ code: "REVISION_MOVED", from: FIRST, to: OTHER, first: "hub/c1", cluster: "hub/c2" });
  });

  test("a cluster that was confirmed before and shows another now pauses the run, healthy or not", () => {
    for (const verdict of ["live", "pending"] as const) {
      const self = halfway();
      judge(self, "c1", verdict, "all");
      shows(self, "c1", OTHER);
      expect(wants(round(self))).not.toContain("Merge 2");
      expect(self.run.paused?.reason).toMatchObject({ code: "REVISION_MOVED", cluster: "hub/c1", to: OTHER });
    }
  });

  test("one that is still on its way may show what it likes", () => {
    const self = bench(2);
    inGit(self, FIRST);
    bring(self, 1, "merged");
    judge(self, "c1", "pending");
    shows(self, "c1", OTHER);
    round(self);
    expect(self.run.paused).toBeUndefined();
    expect(self.run.resolved).toMatchObject([{ commit: FIRST }]);
  });
});

test("a pull request of the run is what it was: nothing of a name is looked up where none is named", () => {
  const self = bench(1);
  bring(self, 1, "open");
  guard(self, 1);
  pull(self, 1);
  expect(wants(round(self))).toContain("Merge 1");
  expect(self.run.resolved).toEqual([]);
});
