/** The windows and limits that a run would go by, as data: what `plan` prints for programs, and what `plan-rules.ts` says in lines. */
import { defined } from "../../base/defined.ts";
import { formatSelector, type Selector } from "../../base/selector.ts";
import { formatDuration, iso } from "../../base/time.ts";
import type { Rollout } from "../../spec/rollout.ts";
import type { Limits } from "../../spec/schema-common.ts";
import { type ScopedWindow, type Window, windowsAt } from "../../spec/windows.ts";
import { type Freeze, isFor, type PlacedFreeze, scopesOf } from "../../spec/windows-binding.ts";

/** What of the surroundings a plan's rules depend on. */
export interface RulesNow {
  /** Epoch milliseconds. */
  now: number;
  limits?: Limits | undefined;
  /** Of the repo's settings and of the server: those for other rollouts and stages are passed over. */
  freezes?: readonly PlacedFreeze[] | undefined;
  /** What the base branch asks of every batch, as far as it may be read. */
  base?: { branch: string; checks: readonly string[]; queue: boolean; strict: boolean } | undefined;
}

/** For whom a rule is; absent: for all. */
export interface RuleScope {
  selector?: Selector | undefined;
  rollouts?: readonly string[] | undefined;
  stages?: readonly string[] | undefined;
}

/** Windows that are open or shut together. */
export interface WindowRule {
  of: "rollout" | "stage" | "repo" | "server";
  /** Whose they are, of a stage's own. */
  stage?: string | undefined;
  scope: RuleScope;
  windows: readonly Window[];
  open: boolean;
  /** Epoch milliseconds; undefined: not within a year. */
  changesAt: number | undefined;
}

/** Those of the rollout, then those of stages, which have to be open as well, then freezes that some stage goes by. */
export function windowRules(
  { name, windows = [], stages }: Rollout,
  { now, freezes = [] }: Pick<RulesNow, "now" | "freezes">,
): WindowRule[] {
  const rules = (list: readonly Freeze[], of: WindowRule["of"], stage?: string) =>
    scopesOf(list).map((own) => windowRule(own, of, stage, now));
  const bind = freezes.filter((freeze) => stages.some((stage) => isFor(freeze, name, stage.name)));
  const isServers = ({ where }: PlacedFreeze) => where.kind === "Server";
  return [
    ...rules(windows, "rollout"),
    ...stages.flatMap((stage) => rules(stage.windows ?? [], "stage", stage.name)),
    ...rules(
      bind.filter((freeze) => !isServers(freeze)),
      "repo",
    ),
    ...rules(bind.filter(isServers), "server"),
  ];
}

function windowRule(windows: readonly (ScopedWindow & Freeze)[], of: WindowRule["of"], stage: string | undefined, now: number): WindowRule {
  const [{ selector, stages, rollouts } = {}] = windows;
  const { open, changesAt } = windowsAt(windows, now);
  return { of, stage, scope: { selector, stages, rollouts }, windows, open, changesAt };
}

/** The repo's limits without those that count other rollouts or stages alone. */
export function limitsFor(limits: Limits | undefined, { name, stages }: Rollout): Limits | undefined {
  if (limits?.selected === undefined) return limits;
  return { ...limits, selected: limits.selected.filter((one) => stages.some((stage) => isFor(one, name, stage.name))) };
}

/** The documented `rules` of `stagecoach plan -o json`. */
export interface RulesJson {
  windows: (ScopeJson & {
    of: WindowRule["of"];
    stage?: string;
    windows: { kind: Window["kind"]; schedule: string; duration: string; timeZone: string }[];
    open: boolean;
    changesAt: string | null;
  })[];
  limits: (ScopeJson & Omit<Limits, "selected"> & { of: "rollout" | "repo" })[];
  /** Every rule in a sentence, these and all others. */
  says: string[];
}

type ScopeJson = Omit<RuleScope, "selector"> & { selector?: string };

export function rulesJson(rollout: Rollout, rules: RulesNow, says: string[]): RulesJson {
  return {
    windows: windowRules(rollout, rules).map(({ of, stage, scope, windows, open, changesAt }) => ({
      ...{ of, ...defined({ stage }), ...scopeJson(scope) },
      windows: windows.map(({ kind, schedule, durationMs, timeZone }) => ({
        kind,
        schedule,
        duration: formatDuration(durationMs),
        timeZone,
      })),
      ...{ open, changesAt: changesAt === undefined ? null : iso(changesAt) },
    })),
    limits: [...limitRows("rollout", rollout.limits), ...limitRows("repo", limitsFor(rules.limits, rollout))],
    says,
  };
}

function limitRows(of: "rollout" | "repo", limits: Limits | undefined): RulesJson["limits"] {
  if (limits === undefined) return [];
  const { selected = [], ...whole } = limits;
  const rows = [...(Object.keys(defined(whole)).length === 0 ? [] : [whole]), ...selected];
  return rows.map(({ clusters, targets, label, ...scope }) => ({ of, ...scopeJson(scope), ...defined({ clusters, targets, label }) }));
}

function scopeJson({ selector, rollouts, stages }: RuleScope): ScopeJson {
  return defined({ selector: selector && formatSelector(selector), rollouts, stages });
}
