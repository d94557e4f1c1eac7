import { defined } from "../../../core/base/defined.ts";
import { type Delivery, deliveryHeaders } from "../deliver/webhooks.ts";
import { ApiFailure, notFound } from "../http/failure.ts";
import { type Answer, type Call, numberParam, ok, type Route } from "../http/router.ts";
import { seconds } from "../model/world.ts";

/** Only for the App itself, by its JSON web token. */
export function asApp(handle: (call: Call) => Promise<Answer> | Answer): (call: Call) => Promise<Answer> | Answer {
  return (call) => {
    if (call.actor.kind !== "app") throw new ApiFailure(401, "A JSON web token could not be decoded");
    return handle(call);
  };
}

function statusWord(delivery: Delivery): string {
  const { status } = delivery;
  if (status === undefined) return "pending";
  if (status === 0) return "failed to connect to host";
  return status >= 200 && status < 300 ? "OK" : `Invalid HTTP Response: ${status}`;
}

function shape(delivery: Delivery) {
  return {
    id: delivery.id,
    guid: delivery.guid,
    delivered_at: seconds(delivery.at),
    redelivery: delivery.redelivery,
    duration: (delivery.durationMs ?? 0) / 1000,
    status: statusWord(delivery),
    // GitHub has a gateway's number for a receiver that it could not reach.
    status_code: delivery.status === 0 ? 502 : (delivery.status ?? 0),
    event: delivery.event,
    action: delivery.action ?? null,
    installation_id: delivery.installation ?? null,
    repository_id: delivery.repository ?? null,
    throttled_at: null,
  };
}

function own(call: Call): Delivery[] {
  return call.world.hooks.deliveries.filter((one) => one.app === call.actor.app);
}

/** Newest first; the cursor is the id of the last one shown. */
function list(call: Call): Answer {
  const size = Math.min(Math.max(Number(call.query.get("per_page") ?? 30) || 30, 1), 100);
  const cursor = Number(call.query.get("cursor") ?? Number.POSITIVE_INFINITY);
  const wanted = call.query.get("status");
  const failed = (one: Delivery) => one.status !== undefined && (one.status < 200 || one.status >= 300);
  const older = own(call)
    .filter((one) => one.id < cursor && (wanted === null || failed(one) === (wanted === "failure")))
    .reverse();
  const shown = older.slice(0, size);
  const next = older.length > size ? shown.at(-1)?.id : undefined;
  const url = `${call.world.origin}/app/hook/deliveries?per_page=${size}&cursor=${next}`;
  return defined({ status: 200, body: shown.map(shape), headers: next === undefined ? undefined : { link: `<${url}>; rel="next"` } });
}

function find(call: Call): Delivery {
  const id = numberParam(call, "id");
  const found = own(call).find((one) => one.id === id);
  if (found === undefined) throw notFound();
  return found;
}

function one(call: Call): Answer {
  const delivery = find(call);
  return ok({
    ...shape(delivery),
    url: delivery.app.hook?.url ?? "",
    request: { headers: deliveryHeaders(delivery), payload: JSON.parse(delivery.body) },
    response: { headers: {}, payload: "" },
  });
}

function config(call: Call): Answer {
  const hook = call.actor.app?.hook;
  return ok(
    defined({
      content_type: "json",
      insecure_ssl: "0",
      url: hook === undefined ? undefined : hook.url,
      secret: hook === undefined ? undefined : "********",
    }),
  );
}

export const APP_HOOK_ROUTES: readonly Route[] = [
  { method: "GET", path: "/app/hook/config", handle: asApp(config) },
  { method: "GET", path: "/app/hook/deliveries", handle: asApp(list) },
  { method: "GET", path: "/app/hook/deliveries/:id", handle: asApp(one) },
  {
    method: "POST",
    path: "/app/hook/deliveries/:id/attempts",
    handle: asApp((call) => {
      call.world.hooks.redeliver(find(call).id);
      return { status: 202, body: {} };
    }),
  },
];
