/**
 * Loaded into a replica before anything else: its wall's clock is off by as many milliseconds as stand in the file that CHAOS_CLOCK names, and jumps
 * when SIGUSR2 tells that they have changed. The monotonic clock goes on, as it does on a machine whose time is set.
 */
import { readFileSync } from "node:fs";

const RealDate = Date;
let offset = 0;
const now = () => RealDate.now() + offset;

function read() {
  try {
    offset = Number(readFileSync(process.env.CHAOS_CLOCK ?? "", "utf8")) || 0;
  } catch {
    offset = 0;
  }
}

read();
process.on("SIGUSR2", read);

globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, made) => Reflect.construct(target, given.length === 0 ? [now()] : given, made),
  apply: () => new RealDate(now()).toString(),
  get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
});
