/** Keeps ages going by the world's clock, and draws anew what changed. A text: no build step. */
export const PAGE_SCRIPT = `const root = document.documentElement;
let base = Date.parse(root.dataset.now), speed = Number(root.dataset.speed) || 1, at = performance.now();
const seen = new Map();
const now = () => base + (performance.now() - at) * speed;
const UNITS = [[86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]];
function age(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  const [size, name] = UNITS.find(([most]) => s >= most) ?? UNITS[3];
  const n = Math.floor(s / size);
  return n + " " + name + (n === 1 ? "" : "s") + " ago";
}
function tick() {
  for (const time of document.querySelectorAll("time")) {
    const text = age(now() - Date.parse(time.dateTime));
    if (time.textContent !== text) time.textContent = text;
  }
  document.getElementById("clock").textContent = new Date(now()).toISOString().slice(11, 19) + " UTC" + (speed > 1 ? " · " + speed + "×" : "");
}
const isRead = (node) => { const chosen = getSelection(); return chosen && !chosen.isCollapsed && node.contains(chosen.anchorNode); };
async function renew() {
  if (document.hidden) return;
  const answer = await fetch(location.href, { headers: { accept: "text/html" } }).catch(() => undefined);
  document.body.classList.toggle("gone", !answer);
  if (!answer?.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  base = Date.parse(fresh.documentElement.dataset.now); at = performance.now();
  for (const part of fresh.querySelectorAll("[data-live]")) {
    const text = part.innerHTML.replace(/(<time[^>]*>)[^<]*/g, "$1");
    const here = document.getElementById(part.id);
    if (!here || seen.get(part.id) === text || isRead(here) || here.contains(document.activeElement)) continue;
    const open = [...here.querySelectorAll("details")].map((one) => one.open);
    if (seen.has(part.id) || text !== here.innerHTML.replace(/(<time[^>]*>)[^<]*/g, "$1")) {
      here.replaceChildren(...part.childNodes);
      here.querySelectorAll("details").forEach((one, index) => { if (open[index]) one.open = true; });
    }
    seen.set(part.id, text);
  }
  tick();
}
tick();
setInterval(tick, 500);
if (document.querySelector("[data-live]")) setInterval(renew, 1500);
`;
