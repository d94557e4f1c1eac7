import { clientId } from "../http/auth.ts";
import type { Installation, World } from "../model/model.ts";
import { seconds } from "../model/world.ts";
import { userShape } from "./user.ts";

export function installationShape(world: World, installation: Installation) {
  const url = `${world.origin}/app/installations/${installation.id}`;
  const { account, app, suspended } = installation;
  return {
    id: installation.id,
    account: userShape(world, account),
    repository_selection: installation.repositories === "all" ? ("all" as const) : ("selected" as const),
    access_tokens_url: `${url}/access_tokens`,
    repositories_url: `${world.origin}/installation/repositories`,
    html_url: `${world.origin}/settings/installations/${installation.id}`,
    app_id: app.id,
    client_id: clientId(app),
    app_slug: app.slug,
    target_id: account.id,
    target_type: account.type,
    permissions: installation.permissions,
    events: app.events,
    created_at: seconds(installation.createdAt),
    updated_at: seconds(suspended ?? installation.createdAt),
    single_file_name: null,
    has_multiple_single_files: false,
    single_file_paths: [],
    suspended_by: suspended === undefined ? null : userShape(world, account),
    suspended_at: suspended === undefined ? null : seconds(suspended),
  };
}
