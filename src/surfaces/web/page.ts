/** The page: three texts, no build step. It draws the model of each run; all data reaches the DOM as text, never as HTML. */
import { LABELS } from "../../core/report/model/states.ts";

export const PAGE_HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Stagecoach</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/page.css">
<script type="module" src="/page.js"></script>
</head>
<body>
<header><h1>Stagecoach</h1><p id="clock" aria-live="off"></p><p id="link" role="status"></p></header>
<main id="runs"><p class="quiet">Loading…</p></main>
<footer><ul id="legend" aria-label="What the shapes mean"></ul></footer>
</body>
</html>
`;

export const PAGE_STYLE = `:root { color-scheme: light dark; --ink: #1d2430; --quiet: #5c6675; --paper: #f5f6f8; --card: #fff; --line: #dfe3e9;
  --live: #1a7f4b; --move: #1f6fd6; --wait: #8a6a00; --bad: #c0262d; --none: #9aa3b0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ebf0; --quiet: #9aa5b5; --paper: #12161c; --card: #1b212a; --line: #2c3542;
  --live: #4fca8a; --move: #6eaeff; --wait: #e3b94a; --bad: #ff7a80; --none: #667182; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.45 system-ui, "DejaVu Sans", sans-serif; }
header, main, footer { max-width: 1120px; margin: 0 auto; padding: 0 24px; }
header { display: flex; align-items: baseline; gap: 16px; padding-top: 24px; }
a { color: var(--move); }
h1 { font-size: 20px; margin: 0; letter-spacing: -.01em; }
header p { margin: 0; color: var(--quiet); font-variant-numeric: tabular-nums; }
#link { margin-left: auto; }
.quiet { color: var(--quiet); }
.run { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 20px 24px 24px; margin: 20px 0; }
.top { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; }
.top h2 { font-size: 18px; margin: 0; }
.top .release { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 14px; }
.phase { border-radius: 99px; padding: 2px 12px; font-weight: 600; font-size: 13px; border: 1.5px solid currentColor; }
.Progressing, .Pending { color: var(--move); } .Succeeded { color: var(--live); } .Paused, .Waiting { color: var(--wait); }
.Failed, .Aborted { color: var(--bad); } .Superseded { color: var(--quiet); }
.why { font-size: 16px; margin: 12px 0 2px; } .next { margin: 0; color: var(--quiet); } .ask + .next { margin-top: 8px; }
.ask { margin: 12px 0 0; padding: 10px 14px; border-left: 3px solid var(--wait); background: color-mix(in srgb, var(--wait) 10%, transparent); }
.bar { display: flex; height: 8px; border-radius: 99px; overflow: hidden; background: var(--line); margin: 16px 0 4px; }
.bar i { display: block; } .bar .l { background: var(--live); } .bar .f { background: var(--bad); }
.count { color: var(--quiet); font-size: 13px; font-variant-numeric: tabular-nums; margin: 0; }
.stages { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(300px, 100%), 1fr)); gap: 16px; margin-top: 20px; align-items: start; }
.stage { border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px; }
.stage.current { border-color: var(--move); box-shadow: 0 0 0 1px var(--move); }
.stage h3 { font-size: 15px; margin: 0; display: flex; justify-content: space-between; gap: 8px; }
.stage h3 small { font-weight: 400; color: var(--quiet); white-space: nowrap; }
.batch { margin-top: 12px; padding-top: 10px; border-top: 1px solid var(--line); }
.batch p { margin: 0; font-size: 13px; } .batch .head { display: flex; justify-content: space-between; gap: 8px; color: var(--quiet); }
.cells { display: flex; flex-wrap: wrap; gap: 6px; margin: 8px 0 2px; padding: 0; list-style: none; }
.cell { display: flex; align-items: center; gap: 6px; border: 1px solid var(--line); border-radius: 7px; padding: 3px 9px 3px 7px; font-size: 13px; background: var(--paper); }
.cell:focus-visible { outline: 2px solid var(--move); }
.rollouts { list-style: none; margin: 6px 0 2px; padding: 0; font-size: 13px; } .rollouts li { overflow-wrap: anywhere; }
.rollouts b { font-weight: 600; }
.cause { margin: 8px 0 0; color: var(--bad); } .actions { display: flex; flex-wrap: wrap; gap: 4px 12px; list-style: none; margin: 12px 0 0; padding: 0; font-size: 13px; }
.dot { width: 11px; height: 11px; flex: none; }
.c-live { color: var(--live); } .c-move { color: var(--move); } .c-wait { color: var(--wait); } .c-bad { color: var(--bad); } .c-none { color: var(--none); }
#legend { list-style: none; display: flex; flex-wrap: wrap; gap: 6px 18px; padding: 0 0 32px; margin: 0; color: var(--quiet); font-size: 13px; }
#legend li { display: flex; align-items: center; gap: 6px; }
@media (max-width: 560px) { header { flex-wrap: wrap; gap: 0 16px; } #clock { order: 1; flex-basis: 100%; } header, main, footer { padding-left: 14px; padding-right: 14px; } .run { padding: 16px; } }
`;

export const PAGE_SCRIPT = `// Draws what /api/events sends. Nothing here decides anything.
const LABELS = ${JSON.stringify(LABELS)};
const COLORS = { good: "live", busy: "move", warn: "wait", bad: "bad", dim: "none" };
const LOOKS = {
  ToCome: "ring", Open: "ring", Merged: "half", Syncing: "half", Healthy: "full", Failed: "cross", Requeued: "loop", RolledBack: "loop", Skipped: "dash",
};
const LEGEND = [["ToCome", "dim"], ["Open", "busy"], ["Syncing", "busy"], ["Healthy", "good", "now"], ["Healthy", "good"], ["Failed", "bad"], ["Requeued", "warn"], ["Skipped", "dim"]];
const SHAPES = {
  ring: '<circle cx="6" cy="6" r="4.5" fill="none" stroke="currentColor" stroke-width="1.6"/>',
  half: '<circle cx="6" cy="6" r="4.5" fill="none" stroke="currentColor" stroke-width="1.6"/><path d="M6 1.5a4.5 4.5 0 0 1 0 9z" fill="currentColor"/>',
  full: '<circle cx="6" cy="6" r="5" fill="currentColor"/>',
  tick: '<path d="M1.5 6.5 4.7 9.6 10.5 2.6" fill="none" stroke="currentColor" stroke-width="2"/>',
  cross: '<path d="M2 2 10 10M10 2 2 10" stroke="currentColor" stroke-width="2"/>',
  dash: '<path d="M2 6h8" stroke="currentColor" stroke-width="2"/>',
  loop: '<path d="M10 6a4 4 0 1 1-1.3-3M9 .8v2.6H6.4" fill="none" stroke="currentColor" stroke-width="1.6"/>',
};
const runs = document.getElementById("runs");
let state, receivedAt = 0;

function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) if (value !== undefined) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}
function dot({ state, tone, when }) {
  const shape = state === "Healthy" && when === "past" ? "tick" : LOOKS[state] ?? "ring";
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 12 12");
  svg.setAttribute("class", "dot c-" + (COLORS[tone] ?? "none"));
  svg.setAttribute("aria-hidden", "true");
  svg.innerHTML = SHAPES[shape];
  return svg;
}
function now() { return Date.parse(state.now) + (performance.now() - receivedAt) * state.speed; }
function span(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return s + "s";
  if (s < 3600) return Math.floor(s / 60) + "m" + (s % 60 ? (s % 60) + "s" : "");
  return Math.floor(s / 3600) + "h" + (s % 3600 >= 60 ? Math.floor((s % 3600) / 60) + "m" : "");
}
function since(time) { return el("time", { datetime: time, "data-since": time }, span(now() - Date.parse(time))); }
function until(time) { return el("time", { datetime: time, "data-until": time }, "in " + span(Date.parse(time) - now())); }
function clock(time) { return time.slice(11, 16) + " UTC"; }
function when(n) {
  if (n.waitsFor?.at) return until(n.waitsFor.at);
  return n.deadline ? el("span", {}, "at the latest ", until(n.deadline)) : "";
}
function done(n) {
  if (!n.eta) return null;
  return el("span", { class: "quiet" }, "Done about ", until(n.eta.p50), n.eta.p50 === n.eta.p90 ? "" : ", where it is slow at " + clock(n.eta.p90));
}
function link({ name, url }) {
  const safe = /^https?:\\/\\//.test(url);
  return el(safe ? "a" : "span", safe ? { href: url, rel: "noreferrer" } : {}, name);
}
function below(n, kind) { return n.children.flatMap((c) => c.kind === kind ? [c] : below(c, kind)); }
function cluster(c) {
  const label = LABELS[c.state] + (c.facts.length ? " (" + c.facts.join(", ") + ")" : "");
  const change = c.change ? [c.change.from, c.change.to].filter((value) => value).join(" → ") : "";
  const lines = [c.name + ": " + label, change, below(c, "application").map((a) => a.name).join(", "), c.says];
  const title = lines.filter((line) => line !== "").join("\\n");
  return el("li", { class: "cell", title, tabindex: "0", "aria-label": title }, dot(c), c.name);
}
function rows(list, label, row) {
  return list.length ? el("ul", { class: "rollouts", "aria-label": label }, ...list.slice(0, 20).map(row), list.length > 20 ? el("li", { class: "quiet" }, list.length - 20 + " more") : null) : null;
}
function rollouts(b) {
  const all = b.when === "past" ? [] : below(b, "cluster").flatMap((c) => below(c, "rollout").map((r) => [c, r]));
  return rows(all, "Argo Rollouts", ([c, r]) => el("li", {}, el("b", {}, c.name), " ⟳ " + r.name + " ", el("span", { class: "c-" + COLORS[r.tone] }, LABELS[r.state]), " · " + r.says));
}
function checks(n) {
  const why = (g) => g.tone === "good" || !g.says ? "" : " · " + g.says;
  return rows(n.children.filter((c) => c.kind === "check"), "Analyses and hooks", (g) => el("li", {}, el("b", {}, g.name), " ", el("span", { class: "c-" + COLORS[g.tone] }, LABELS[g.state]), g.facts.length ? " · " + g.facts.join(" · ") : "", why(g)));
}
function batch(b, r) {
  const past = b.when === "past";
  const state = LABELS[b.state] + (b.checking ? ", " + b.checking : "") + " ";
  const head = el("p", { class: "head" }, el("span", {}, b.name, " ", ...b.links.map(link)), el("span", {}, state, b.since && !past ? since(b.since) : ""));
  const why = b.says && !past && b.says !== r.says ? el("p", {}, b.says) : null;
  const next = b.waitsFor && !past && b.waitsFor.says !== r.waitsFor?.says ? el("p", { class: "quiet" }, "Next: " + b.waitsFor.says + " ", when(b)) : null;
  return el("div", { class: "batch" }, head, cells(below(b, "cluster")), rollouts(b), checks(b), b.cause?.name === r.cause?.name ? null : cause(b), why, next);
}
function cells(list) { return el("ul", { class: "cells" }, ...list.map(cluster)); }
function loose(s) {
  const groups = Map.groupBy(s.children.filter((c) => c.kind === "cluster"), (c) => c.state);
  return [...groups].map(([state, list]) => el("div", { class: "batch" }, el("p", { class: "head" }, el("span", {}, LABELS[state])), cells(list), ...list.filter((c) => c.says).slice(0, 5).map((c) => el("p", { class: "quiet" }, c.name + ": " + c.says, c.eta ? el("span", {}, " Looked at again ", until(c.eta.p50)) : ""))));
}
function stage(s, r) {
  const state = s.when === "now" ? "current" : "";
  return el("section", { class: "stage " + state }, el("h3", {}, s.name, s.counts ? el("small", {}, s.counts.clusters ? s.counts.healthy + "/" + s.counts.clusters + " healthy" : "no clusters") : null),
    el("p", { class: "count" }, [LABELS[s.state], ...s.facts].join(", ")), checks(s), ...s.children.filter((c) => c.kind === "batch").map((b) => batch(b, r)), ...loose(s));
}
function cause(n) {
  const c = n.cause;
  if (!c || n.kind === "stage") return null;
  const measured = (c.measured ?? []).map((m) => m.metric + (m.value ? " measured " + m.value : "") + (m.limit ? ", " + m.limit : ""));
  if (c.told) return c.link ? el("p", { class: "cause" }, link({ name: "Look at " + c.name + " in Argo CD", url: c.link })) : null;
  return el("p", { class: "cause" }, c.name + ": " + (measured.length ? measured.join("; ") : c.says) + " ", c.link ? link({ name: "Argo CD", url: c.link }) : "");
}
function actions(r) {
  const list = r.actions.filter((a) => a.allowed);
  if (!list.length) return null;
  const one = (a) => el("li", { title: a.effect + " (needs " + a.needs + ")" }, el("code", {}, ["/" + a.verb, ...a.args].join(" ")));
  return el("ul", { class: "actions", "aria-label": "What you can comment" }, el("li", { class: "quiet" }, "Comment on the pull request:"), ...list.map(one));
}
function run(r) {
  const { clusters, healthy, failed, requeued } = r.counts;
  const part = (n) => "width:" + (clusters ? (100 * n) / clusters : 0) + "%";
  const liveBar = el("i", { class: "l" }), failBar = el("i", { class: "f" });
  liveBar.style.cssText = part(healthy); failBar.style.cssText = part(failed);
  return el("article", { class: "run" },
    el("div", { class: "top" }, el("h2", {}, r.rollout + " #" + r.number), el("span", { class: "release" }, r.release), el("span", { class: "phase " + r.state }, LABELS[r.state] + (r.state === "Waiting" ? " " + r.waitsOn.says : "")),
      el("span", { class: "quiet" }, r.repository, r.pull ? " · " : "", r.pull ? (r.links[0] ? link({ name: "PR " + r.links[0].name, url: r.links[0].url }) : "PR #" + r.pull) : "", " by " + r.author)),
    el("p", { class: "why" }, r.says),
    el("p", { class: "next" }, r.waitsFor ? "Next: " + r.waitsFor.says + " " : "", r.waitsFor ? when(r) : "", r.endedAt ? "Took " + span(Date.parse(r.endedAt) - Date.parse(r.startedAt)) : ""),
    r.eta ? el("p", { class: "next" }, done(r)) : null,
    cause(r),
    r.ask ? el("p", { class: "ask" }, r.ask.says) : null,
    r.wayBack ? el("p", { class: "next" }, "The way back: " + r.wayBack.says) : null,
    ...r.controlPlanes.map((u) => el("p", { class: "ask" }, "Control plane " + u.name + " cannot be reached" + (u.says ? ": " + u.says : "") + ". " + (u.facts.length ? u.facts.join(", ") + ", for " : "For "), since(u.since))),
    el("div", { class: "bar", role: "img", "aria-label": healthy + " of " + clusters + " clusters healthy" }, liveBar, failBar),
    el("p", { class: "count" }, healthy + " of " + clusters + " clusters healthy" + (failed ? ", " + failed + " failed" : "") + (requeued ? ", " + requeued + " requeued" : "")),
    actions(r),
    el("div", { class: "stages" }, ...r.children.map((s) => stage(s, r))),
    ...r.notes.map((text) => el("p", { class: "quiet" }, text)));
}
function standing(s) {
  const lines = s.attention.map((text) => el("p", { class: "ask" }, "Needs attention: " + text));
  const none = s.refused.map((r) => el("div", { class: "ask" }, (r.rollout ? r.rollout + ": " : "") + r.says + ". " + r.waitsFor, el("ul", { class: "rollouts" }, ...r.problems.slice(0, 5).map((p) => el("li", {}, el("b", {}, p.where), ": " + p.says + (p.todo ? " (" + p.todo + ")" : ""))), r.problems.length > 5 ? el("li", { class: "quiet" }, r.problems.length - 5 + " more") : null)));
  return el("article", { class: "run" }, el("div", { class: "top" }, el("h2", {}, s.repository)), ...lines, ...none);
}
function draw() {
  const focus = document.activeElement?.getAttribute?.("aria-label");
  runs.replaceChildren(...(state.standing ?? []).map(standing), ...(state.runs.length ? state.runs.map(run) : state.standing?.length ? [] : [el("p", { class: "quiet" }, "No run yet. Merge a release PR to start one.")]));
  if (focus) [...document.querySelectorAll(".cell")].find((cell) => cell.getAttribute("aria-label") === focus)?.focus();
}
function tick() {
  if (!state) return;
  document.getElementById("clock").textContent = new Date(now()).toISOString().slice(0, 19).replace("T", " ") + " UTC" + (state.speed > 1 ? ", " + state.speed + "× as fast as yours" : "");
  for (const node of document.querySelectorAll("[data-since]")) node.textContent = span(now() - Date.parse(node.dataset.since));
  for (const node of document.querySelectorAll("[data-until]")) node.textContent = "in " + span(Date.parse(node.dataset.until) - now());
}
const legend = ([state, tone, when]) => el("li", {}, dot({ state, tone, when: when ?? "past" }), LABELS[state] + (when === "now" ? ", still being checked" : ""));
document.getElementById("legend").replaceChildren(...LEGEND.map(legend));
const events = new EventSource("/api/events");
const status = document.getElementById("link");
events.onmessage = (message) => { state = JSON.parse(message.data); receivedAt = performance.now(); status.textContent = "live"; draw(); tick(); };
events.onerror = () => { status.textContent = "connection lost, trying again"; };
setInterval(tick, 250);
`;
