import type { ProblemData } from "../../reasons/problem.ts";
import type { PaceProblems } from "../../reasons/problems-pace.ts";
import type { ProblemEntries } from "./problem-entry.ts";

/** Windows, bakes, hooks and steps. */
export const PACE_PROBLEMS: ProblemEntries<PaceProblems> = {
  BAD_WINDOW: {
    says: (r) => {
      if (r.fault === "Zone") return `${r.zone} is not an IANA time zone`;
      if (r.fault === "Fields") return "a schedule has five fields: minute hour day month weekday";
      return r.said === "" ? "it cannot be read" : r.said;
    },
    hint: (r) => (r.fault === "Zone" ? "such as Europe/Rome or UTC" : "such as `0 9 * * 1-5`: nine o'clock from Monday to Friday"),
  },
  WINDOW_NEVER_OPENS: {
    says: (r) => {
      if (r.kind === "Alone") return "these windows do not open within a year: nothing would ever merge";
      const whose = `the windows of ${r.whose.join(" and of ")}`;
      if (r.kind === "Together") return `nothing would ever merge: ${whose} are never open together within a year`;
      return `no batch would ever merge: ${whose} ${r.kind === "Shut" ? "do not open" : "are never open together"} within a year`;
    },
    hint: (r) => {
      if (r.kind === "Together") return `check the days of windows against freezes of ${r.settings}`;
      return "check the days of `allow`, and whether a `deny` covers them all";
    },
  },
  LONG_BAKE: { says: (r) => `each batch bakes for ${r.bake}, longer than a month`, hint: "check its unit: s, m, h or d" },
  HOOK_URL: {
    says: (r) =>
      r.fault === "NoAddress"
        ? "a hook's url is no http or https address"
        : "a hook's url holds a name or password, which would be shown to everybody",
    hint: "write it whole, without a name and password: https://hooks.example.com/rollouts",
  },
  HOOK_TIMEOUT: {
    says: (r) => `a hook's timeout is ${r.given}`,
    hint: "write more than 0s and at most 60s; a hook that needs longer answers hold",
  },
  STEP_KIND: {
    says: ({ used: [first, second] }) => (first === undefined ? "the step does nothing" : `the step has both ${first} and ${second}`),
    hint: "each step has exactly one of setWeight, pause and analysis",
  },
  STEP_WEIGHT: {
    says: (r) => {
      if (r.kind === "NotMore") return `setWeight ${r.weight} is not more than the ${r.before} before it`;
      return `the steps of stage "${r.stage}" ${r.kind === "None" ? "set no weight" : "begin with a wait, before anything has changed"}`;
    },
    hint: (r) => {
      if (r.kind === "NotMore") return "weights grow with each step; to go back there is /rollback";
      if (r.kind === "None") return "begin with setWeight, such as setWeight: 20; for a wait alone there is bake";
      return "begin with setWeight; before a stage there are approval, windows and analysis with when: [BeforeStage]";
    },
  },
  STEPS_BATCHING: {
    says: (r) => `stage "${r.stage}" has steps and ${r.kind === "Rolling" ? "batching: Rolling" : "delivery.strategy: Commit"}`,
    hint: (r) =>
      r.kind === "Rolling"
        ? "use batching: Fixed: the clusters of a batch go from weight to weight together"
        : "use strategy: PullRequest: a weight is written in a file",
  },
  WEIGHT_PINS: { says: weightPins, hint: (r) => WEIGHT_HINTS[r.kind] },
};

function weightPins(r: ProblemData<"WEIGHT_PINS">): string {
  switch (r.kind) {
    case "Missing":
      return `stage "${r.stage}" has steps, and no weightPins say where their weight is written`;
    case "NoSteps":
      return "weightPins are there, and no stage has steps";
    case "NoReplicas":
      return "{{ step.replicas }} wants to know of how many";
    case "UnusedReplicas":
      return "replicas is there, and value does not use it";
    case "SameAlways":
      return "value is the same at every weight";
    case "Twin":
      return `the weight would be written where pins[${r.pin}] writes the version`;
  }
}

const WEIGHT_HINTS: Record<ProblemData<"WEIGHT_PINS">["kind"], string> = {
  Missing: "add spec.weightPins with file and path of each place; steps without them would change nothing",
  NoSteps: "add steps to a stage, or remove weightPins",
  NoReplicas: "add replicas: how many the clusters of one batch have together",
  UnusedReplicas: 'write value: "{{ step.replicas }}", or remove replicas',
  SameAlways: 'write "{{ step.weight }}" in it, or leave it out',
  Twin: "name a place of its own",
};
