/**
 * The addresses of the page, made and read in one place: comments, checks, notifications and the page itself link by these, and what was linked
 * once stays where it is. Below the public address: `/r/OWNER/REPOSITORY/ROLLOUT`, `…/runs/42`, `…/runs/42/batches/3`, `…/pulls/12` (a plan),
 * `…/targets/CONTROLPLANE/NAMESPACE/APPLICATION`, each with `?at=` for a moment that is over; `/` is the fleet.
 */
import { epoch, iso, type Time } from "../base/time.ts";
import type { Run } from "../run/state/run.ts";

interface RolloutPlace {
  repository: string;
  rollout: string;
}

/** `noTime`: what the address gives for a moment, where that is none. */
export type PagePlace = { at?: Time | undefined; noTime?: string | undefined } & (
  | { view: "fleet" }
  | ({ view: "rollout" } & RolloutPlace)
  | ({ view: "run"; number: number } & RolloutPlace)
  | ({ view: "batch"; number: number; batch: number } & RolloutPlace)
  /** What merging an open release PR would do. */
  | ({ view: "plan"; pull: number } & RolloutPlace)
  /** `target`: `hub/argocd/payments-eu-1`. */
  | ({ view: "target"; target: string } & RolloutPlace)
);

/** Where a run is shown, or one of its batches; undefined where nobody said where the page is. */
export type PageOf = (run: Pick<Run, "rollout" | "number">, batch?: number) => string | undefined;

export function pagesOf(publicUrl: string | undefined, repository: string): PageOf {
  return ({ rollout, number }, batch) => {
    if (publicUrl === undefined) return undefined;
    const place = { repository, rollout, number };
    return pageUrl(publicUrl, batch === undefined ? { view: "run", ...place } : { view: "batch", ...place, batch });
  };
}

export function pageUrl(publicUrl: string, place: PagePlace): string {
  return `${publicUrl.replace(/(?<!\/)\/+$/, "")}${pagePath(place)}`;
}

/** Begins with `/`. */
export function pagePath(place: PagePlace): string {
  const moment = place.at === undefined ? "" : `?at=${encodeURIComponent(place.at)}`;
  return `${pathOf(place)}${moment}`;
}

function pathOf(place: PagePlace): string {
  if (place.view === "fleet") return "/";
  const rollout = ["", "r", ...place.repository.split("/"), place.rollout];
  const parts = {
    rollout: () => [],
    run: () => ("number" in place ? ["runs", String(place.number)] : []),
    batch: () => ("batch" in place ? ["runs", String(place.number), "batches", String(place.batch)] : []),
    plan: () => ("pull" in place ? ["pulls", String(place.pull)] : []),
    target: () => ("target" in place ? ["targets", ...place.target.split("/")] : []),
  }[place.view]();
  return [...rollout, ...parts].map(encodeURIComponent).join("/");
}

/** What an address shows; undefined: nothing is there. `address`: path and query, below the public address. */
export function parsePagePath(address: string): PagePlace | undefined {
  const [path = "", query = ""] = address.split(/\?(.*)/s);
  if (address.length > LONGEST) return undefined;
  const place = placeAt(path);
  const at = new URLSearchParams(query).get("at");
  if (place === undefined || at === null) return place;
  const time = timeOf(at);
  return time === undefined ? { ...place, noTime: at } : { ...place, at: time };
}

const MOMENT = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+ -]\d\d:\d\d)?)?$/;

/** In UTC where it names no zone, as all times of the page are; a `+` of an address is read as a space. */
function timeOf(text: string): Time | undefined {
  const [, day, clock = "00:00", zone = "Z"] = MOMENT.exec(text) ?? [];
  const time = day === undefined ? Number.NaN : epoch(`${day}T${clock}${zone.replace(" ", "+")}`);
  return Number.isFinite(time) ? iso(time) : undefined;
}

const LONGEST = 2_000;
const OWNER = /^[\w.-]{1,100}$/;
const NAME = /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/;
const NUMBER = /^[1-9]\d{0,8}$/;

function placeAt(path: string): PagePlace | undefined {
  if (path === "/" || path === "") return { view: "fleet" };
  const [start, r, owner = "", repo = "", rollout = "", ...more] = path.replace(/\/$/, "").split("/").map(decoded);
  if (start !== "" || r !== "r" || !OWNER.test(owner) || !OWNER.test(repo) || !isName(rollout)) return undefined;
  const place = { repository: `${owner}/${repo}`, rollout };
  const [what, first = "", then, last = ""] = more;
  if (more.length === 0) return { view: "rollout", ...place };
  if (what === "targets" && more.length === 4 && more.slice(1).every((part) => isName(part ?? "")))
    return { view: "target", ...place, target: more.slice(1).join("/") };
  if (what === "pulls" && more.length === 2 && NUMBER.test(first)) return { view: "plan", ...place, pull: Number(first) };
  if (what !== "runs" || !NUMBER.test(first)) return undefined;
  if (more.length === 2) return { view: "run", ...place, number: Number(first) };
  if (more.length !== 4 || then !== "batches" || !NUMBER.test(last)) return undefined;
  return { view: "batch", ...place, number: Number(first), batch: Number(last) };
}

function isName(text: string): boolean {
  return text.length <= 253 && NAME.test(text);
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
