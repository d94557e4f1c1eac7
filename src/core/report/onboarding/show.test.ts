import { expect, test } from "vitest";
import type { Hindrance } from "../../reasons/onboarding.ts";
import { proposalText } from "./show.ts";
import type { Proposal } from "./types.ts";

function empty(change: Partial<Proposal> = {}): Proposal {
  return {
    rollouts: [],
    existing: [],
    undecided: [],
    fleet: "nothing",
    clusters: 0,
    figures: { files: 3, applicationSets: 0, applications: 0, kustomizations: 0, charts: 0, valuesFiles: 0 },
    ...change,
  } as Proposal;
}

const told = (proposal: Proposal) => proposalText(proposal, undefined, (text) => text);
const one = (name: string, why: Hindrance = { kind: "NoName" }) => ({ what: `ApplicationSet ${name}`, file: `${name}.yaml`, why });

test("what has the same reason is told together, and what is alone by itself", () => {
  expect(told(empty({ undecided: [one("a"), one("x", { kind: "HelmTemplate", templates: 2 }), one("b")] }))).toMatchInlineSnapshot(`
    "Found 3 files with nothing of Argo CD's; 0 clusters, none is named.

    Not decided:
      2 of them: it has no name of its own
        ApplicationSet a (a.yaml)
        ApplicationSet b (b.yaml)
        → give it one
      ApplicationSet x (x.yaml): Helm makes them, of 2 templates: which there are is known only once that is rendered
        → give --inventory with the Applications as they live: kubectl get applications,applicationsets -n argocd -o yaml

    No rollout is proposed. First of all, ApplicationSet a: it has no name of its own. What to do: give it one.
    "
  `);
});

test("of hundreds with the same reason a few are named", () => {
  const text = told(empty({ undecided: Array.from({ length: 300 }, (_, index) => one(`set-${index}`)) }));
  expect(text).toContain("300 of them: it has no name of its own");
  expect(text).toContain("and 290 more: -o json names them all");
  expect(text.split("\n").length).toBeLessThan(25);
});

test("a reader who sees nothing proposed is told whether nothing was found, nothing could be, or nothing was left", () => {
  expect(told(empty())).toContain("There is no place from which a version could be carried to clusters");
  expect(told(empty({ undecided: [one("a")] }))).toContain("No rollout is proposed. First of all, ");
  expect(told(empty({ existing: ["payments"] }))).toContain("has a rollout already. There are already: payments.");
});

test("the reason that is told first is that of most Applications, and not of a generator that finds nothing yet", () => {
  const nothing = (name: string) => one(name, { kind: "NoApplications", labels: [], patterns: ["apps/*"] });
  const many = { ...one("c", { kind: "SameName", application: "shop", files: ["a", "b"] }), applications: 12 };
  expect(told(empty({ undecided: [one("a"), one("b"), many] }))).toContain("First of all, ApplicationSet c: several files");
  expect(told(empty({ undecided: [nothing("a"), nothing("b"), one("c")] }))).toContain("First of all, ApplicationSet c: it has no name");
});

test("what is to be run next has the arguments that were given, as words of a shell", () => {
  const written = [{ file: "rollouts/shop.yaml", outcome: "written" as const }];
  const next = (...given: string[]) => proposalText(empty(), written, (text) => text, given).split("Next: ")[1];
  expect(next()).toBe("stagecoach lint, and stagecoach plan NAME --to VERSION.\n");
  expect(next("--inventory", "it's a fleet.yaml")).toBe(
    `stagecoach lint --inventory 'it'\\''s a fleet.yaml', and stagecoach plan NAME --to VERSION --inventory 'it'\\''s a fleet.yaml'.\n`,
  );
});

test("nobody is sent to plan a rollout where none was proposed", () => {
  const text = proposalText(empty({ undecided: [one("a")] }), [], (word) => word);
  expect(text).toContain("Nothing was written. First of all, ");
  expect(text).not.toContain("Next:");
});

test("settings are shown beside rollouts alone, and an empty folder has no clusters to speak of", () => {
  const settings = { file: ".github/stagecoach.yaml", text: "mode: Propose\n" };
  const figures = { files: 0, applicationSets: 0, applications: 0, kustomizations: 0, charts: 0, valuesFiles: 0 };
  const text = told(empty({ settings, figures }));
  expect(text).toMatch(/^Found no file\.\n\nNo rollout is proposed\./);
  expect(text).not.toContain(settings.file);
});
