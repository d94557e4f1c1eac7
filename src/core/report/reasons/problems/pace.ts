import type { CronField, PaceProblems } from "../../../reasons/problems/pace.ts";
import type { WindowOwner } from "../../../reasons/refs.ts";
import { CRON_FIELDS } from "../../../spec/schedule-fault.ts";
import { ownerPhrase } from "../phrases.ts";
import { problemsOf } from "./entry.ts";

const DAYS = "check the days of `allow`, and whether a `deny` covers them all";

const SCHEDULE = "write one such as `0 9 * * 1-5`: nine o'clock from Monday to Friday";

/** Windows, bakes, hooks and steps. */
export const PACE_PROBLEMS = problemsOf<PaceProblems>()({
  BAD_WINDOW: {
    says: {
      fault: {
        Zone: "{zone} is not an IANA time zone",
        Fields: "a schedule has five fields: minute hour day month weekday",
        Schedule: "the schedule cannot be read",
        Value: ({ field, given }) => `${given} is no ${field}: ${field}s are ${valuesOf(field)}`,
        Range: "the {field}s {given} run backwards",
        Part: "{given} cannot be read as {field}s",
      },
    },
    hint: {
      fault: {
        Zone: "write one such as Europe/Rome or UTC",
        Fields: SCHEDULE,
        Schedule: SCHEDULE,
        Value: `[did you mean {near}?|${SCHEDULE}]`,
        Range: "write [{near}|the lower one first]",
        Part: "write `*`, a number, a list such as 1,3, a range such as 1-5 or a step such as `*/2`",
      },
    },
    means: "a window whose schedule or time zone cannot be read",
    todo: "write a schedule such as `0 9 * * 1-5`, a time zone such as `Europe/Rome`",
  },
  WINDOW_NEVER_OPENS: {
    says: {
      kind: {
        Alone: "these windows do not open within a year: nothing would ever merge",
        Together: ({ whose }) => `nothing would ever merge: the windows of ${ofAll(whose)} are never open together within a year`,
        Shut: ({ whose }) => `no batch would ever merge: the windows of ${ofAll(whose)} do not open within a year`,
        Apart: ({ whose }) => `no batch would ever merge: the windows of ${ofAll(whose)} are never open together within a year`,
      },
    },
    hint: { kind: { Alone: DAYS, Together: "check the days of windows against freezes of {settings}", Shut: DAYS, Apart: DAYS } },
    means: "windows under which nothing would ever merge, by themselves or with the freezes of the settings; on a release PR a warning",
  },
  LONG_BAKE: {
    says: "each batch would wait {bake} after it is healthy, longer than a month",
    hint: "check its unit: s, m, h or d",
    means: "a bake of more than 30 days",
    warns: true,
  },
  HOOK_URL: {
    says: {
      fault: {
        NoAddress: "a hook's url is not an http or https address",
        Credentials: "a hook's url holds a name or password, which would be shown to everybody",
      },
    },
    hint: "write it whole, without a name and password: https://hooks.example.com/rollouts",
    means: "a hook without an http or https address, or with a name and password in it",
  },
  HOOK_TIMEOUT: {
    says: "a hook's timeout is {given}",
    hint: "write more than 0s and at most 60s; a hook that needs longer answers hold",
    means: "a hook that may take longer than 60 s, or no time at all",
    todo: "write at most `60s`; a hook that needs longer [answers `hold`](hooks.md#the-answer)",
  },
  STEP_KIND: {
    says: ({ used: [first, second] }) => (first === undefined ? "the step does nothing" : `the step has both ${first} and ${second}`),
    hint: "give each step exactly one of setWeight, pause and analysis",
    means: "an entry of `steps` that is none, or two at once",
  },
  STEP_WEIGHT: {
    says: {
      kind: {
        None: 'the steps of stage "{stage}" set no weight',
        WaitFirst: 'the steps of stage "{stage}" begin with a wait, before anything has changed',
        NotMore: "setWeight {weight} is not more than the {before} before it",
      },
    },
    hint: {
      kind: {
        None: "begin with setWeight, such as setWeight: 20; for a wait alone there is bake",
        WaitFirst: "begin with setWeight; before a stage there are approval, windows and analysis with when: [BeforeStage]",
        NotMore: "let weights grow with each step; `/rollback` goes back",
      },
    },
    means: "weights that do not grow, none at all, or a wait before the first",
    todo: "begin with `setWeight`, and let each be more than the one before; [steps](steps.md)",
  },
  STEPS_BATCHING: {
    says: {
      kind: {
        Rolling: 'stage "{stage}" has steps and batching: Rolling',
        Commit: 'stage "{stage}" has steps and delivery.strategy: Commit',
      },
    },
    hint: {
      kind: {
        Rolling: "use batching: Fixed: the clusters of a batch go from weight to weight together",
        Commit: "use strategy: PullRequest: a weight is written in a file",
      },
    },
    means: "`steps` where a batch does not travel as one, or not in files",
    todo: "set `batching: Fixed` and `delivery.strategy: PullRequest`",
  },
  WEIGHT_PINS: {
    says: {
      kind: {
        Missing: 'stage "{stage}" has steps, and no weightPins say where their weight is written',
        NoSteps: "weightPins are there, and no stage has steps",
        NoReplicas: "value uses {{ step.replicas }}, and replicas is missing",
        UnusedReplicas: "replicas is there, and value does not use it",
        SameAlways: "value is the same at every weight",
        Twin: ({ pin }) => `the weight would be written where pins[${pin}] writes the version`,
      },
    },
    hint: {
      kind: {
        Missing: "add spec.weightPins with file and path of each place; steps without them would change nothing",
        NoSteps: "add steps to a stage, or remove weightPins",
        NoReplicas: "add replicas: how many the clusters of one batch have together",
        UnusedReplicas: 'write value: "{{ step.replicas }}", or remove replicas',
        SameAlways: 'write "{{ step.weight }}" in it, or leave it out',
        Twin: "name a place of its own",
      },
    },
    means:
      "`steps` without `weightPins`, or the other way round; a weight pin that says nothing of the step, or takes the place of a version",
    todo: "write both; [steps](steps.md#where-the-weight-is-written) shows how",
  },
  UNKNOWN_STAGE: {
    says: ({ name, own }) => `${own === true ? "this rollout has no stage" : "no stage of these rollouts is"} called "${name}"`,
    hint: "[did you mean {near}?|name one of {known}]",
    means: "`notifications`, a window, a freeze or a limit names a stage that the rollouts it is for do not have",
    todo: "correct the name, or remove it",
    warns: true,
  },
});

function ofAll(whose: readonly WindowOwner[]): string {
  return whose.map(ownerPhrase).join(" and of ");
}

function valuesOf(field: CronField): string {
  const { least, most, names } = CRON_FIELDS[field];
  return `${names.length === 0 ? "" : `${names[0]} to ${names.at(-1)}, or `}${least} to ${most}`;
}
