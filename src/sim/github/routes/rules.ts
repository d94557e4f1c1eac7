import { notFound } from "../http/failure.ts";
import {
  ADMIN,
  type Answer,
  created,
  NO_CONTENT,
  numberParam,
  ok,
  page,
  READ,
  type RepoCall,
  type Route,
  repoRoute,
  text,
  texts,
} from "../http/router.ts";
import type { BypassActor, Rule, Ruleset } from "../model/model.ts";
import { fullName } from "../model/world.ts";
import { rulesetRules } from "../rules/rules.ts";
import { rulesetShape, simpleRulesetShape } from "../shapes/ruleset.ts";
import { protect, protectionShape } from "./protection.ts";

/** What holds for a branch, whether it exists or not: of active rulesets alone, not of classic protection. */
function forBranch(call: RepoCall): Promise<Answer> {
  const found = rulesetRules(call.repo, call.params["branch"] ?? "");
  return page(call, found, ({ rule, ruleset }) => ({
    ...rule,
    ruleset_source_type: ruleset.source,
    ruleset_source: ruleset.source === "Organization" ? call.repo.owner.login : fullName(call.repo),
    ruleset_id: ruleset.id,
  }));
}

function find(call: RepoCall): Ruleset {
  const found = call.repo.rulesets.get(numberParam(call, "id"));
  if (found === undefined) throw notFound();
  return found;
}

function bypassOf(value: unknown): BypassActor[] {
  if (!Array.isArray(value)) return [];
  return (value as Record<string, unknown>[]).map((one) => ({
    type: String(one["actor_type"]) as BypassActor["type"],
    id: Number(one["actor_id"] ?? 1),
    mode: (one["bypass_mode"] ?? "always") as BypassActor["mode"],
  }));
}

function apply(call: RepoCall, ruleset: Ruleset): Ruleset {
  const { body } = call;
  const names = (body["conditions"] as { ref_name?: { include?: unknown; exclude?: unknown } } | undefined)?.ref_name;
  if (typeof body["name"] === "string") ruleset.name = body["name"];
  if (body["enforcement"] !== undefined) ruleset.enforcement = body["enforcement"] as Ruleset["enforcement"];
  if (names?.include !== undefined) ruleset.include = texts(names.include);
  if (names?.exclude !== undefined) ruleset.exclude = texts(names.exclude);
  if (body["bypass_actors"] !== undefined) ruleset.bypass = bypassOf(body["bypass_actors"]);
  if (Array.isArray(body["rules"])) ruleset.rules = body["rules"] as Rule[];
  return ruleset;
}

function create(call: RepoCall): Answer {
  const name = text(call, "name", "Ruleset");
  const plain = { source: "Repository", enforcement: "active" } as const;
  const ruleset = apply(call, { ...plain, include: [], exclude: [], bypass: [], rules: [], id: call.world.nextId(), name });
  call.repo.rulesets.set(ruleset.id, ruleset);
  return created(rulesetShape(call.world, call.repo, ruleset, call.actor));
}

export const RULE_ROUTES: readonly Route[] = [
  repoRoute("GET", "/rules/branches/*branch", READ("metadata"), forBranch),
  repoRoute("GET", "/rulesets", READ("metadata"), (call) =>
    page(call, [...call.repo.rulesets.values()], (one) => simpleRulesetShape(call.world, call.repo, one)),
  ),
  repoRoute("POST", "/rulesets", ADMIN, create),
  repoRoute("GET", "/rulesets/:id", READ("metadata"), (call) => ok(rulesetShape(call.world, call.repo, find(call), call.actor))),
  repoRoute("PUT", "/rulesets/:id", ADMIN, (call) => ok(rulesetShape(call.world, call.repo, apply(call, find(call)), call.actor))),
  repoRoute("DELETE", "/rulesets/:id", ADMIN, (call) => {
    call.repo.rulesets.delete(find(call).id);
    return NO_CONTENT;
  }),
  repoRoute("GET", "/branches/:branch/protection", READ("administration"), (call) => ok(protectionShape(call))),
  repoRoute("PUT", "/branches/:branch/protection", ADMIN, protect),
  repoRoute("DELETE", "/branches/:branch/protection", ADMIN, (call) => {
    call.repo.protections.delete(call.params["branch"] ?? "");
    return NO_CONTENT;
  }),
];
