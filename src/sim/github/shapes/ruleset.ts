import type { Actor, Repo, Ruleset, World } from "../model/model.ts";
import { fullName, nodeId, roleOf, seconds } from "../model/world.ts";
import { pageUrl, repoUrl } from "./repo.ts";

/** As in lists: without conditions, rules and bypass actors. */
export function simpleRulesetShape(world: World, repo: Repo, ruleset: Ruleset) {
  return {
    id: ruleset.id,
    name: ruleset.name,
    target: "branch" as const,
    source_type: ruleset.source,
    source: ruleset.source === "Organization" ? repo.owner.login : fullName(repo),
    enforcement: ruleset.enforcement,
    node_id: nodeId("RRS", ruleset.id),
    _links: {
      self: { href: `${repoUrl(world, repo)}/rulesets/${ruleset.id}` },
      html: { href: `${pageUrl(world, repo)}/rules/${ruleset.id}` },
    },
    created_at: seconds(repo.createdAt),
    updated_at: seconds(repo.createdAt),
  };
}

/** Who may pass it by is shown to whoever may change it: to no App without administration. */
export function rulesetShape(world: World, repo: Repo, ruleset: Ruleset, actor: Actor) {
  const mayChange = actor.kind === "user" ? roleOf(repo, actor.user) === "admin" : actor.permissions?.["administration"] === "write";
  const bypass_actors = ruleset.bypass.map((one) => ({ actor_id: one.id, actor_type: one.type, bypass_mode: one.mode }));
  return {
    ...simpleRulesetShape(world, repo, ruleset),
    conditions: { ref_name: { include: ruleset.include, exclude: ruleset.exclude } },
    rules: ruleset.rules,
    ...(mayChange ? { bypass_actors } : undefined),
    current_user_can_bypass: "never" as const,
  };
}
