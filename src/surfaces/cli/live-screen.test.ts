import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { LiveScreen } from "./live-screen.ts";

const ESC = String.fromCharCode(27);

/** A terminal of which only what is written is kept. */
function terminal(rows = 10, columns = 40) {
  const events = new EventEmitter();
  const out = {
    written: "",
    rows,
    columns,
    write: (text: string) => (out.written += text),
    on: (event: string, listener: () => void) => events.on(event, listener),
    off: (event: string, listener: () => void) => events.off(event, listener),
    resize: () => events.emit("resize"),
    /** What was written since the last call. */
    since: () => {
      const text = out.written;
      out.written = "";
      return text;
    },
  };
  return out;
}

test.each([true, false])("only the line that changed is written again (alternate: %s)", (alternate) => {
  const out = terminal();
  const screen = new LiveScreen(out, { alternate });
  screen.draw(["run", "eu-1 syncing", "eu-2 pending"]);
  expect(out.since()).toContain("eu-2 pending");
  screen.draw(["run", "eu-1 healthy", "eu-2 pending"]);
  const second = out.since();
  expect(second).toContain("eu-1 healthy");
  expect(second).not.toMatch(/run|eu-2/);
  screen.draw(["run", "eu-1 healthy", "eu-2 pending"]);
  expect(out.since()).toBe("");
  screen.close();
});

test("the terminal is left with its cursor, its own screen and the last lines to read", () => {
  const out = terminal();
  const screen = new LiveScreen(out, { alternate: true });
  screen.draw(["over"]);
  screen.note("eu-1 is back");
  out.since();
  screen.close();
  expect(out.since()).toBe(`${ESC}[?25h${ESC}[?1049leu-1 is back\nover\n`);
  screen.draw(["never"]);
  screen.close();
  expect(out.since()).toBe("");
});

test("a new size is drawn anew, and no more lines than there is room for", () => {
  const out = terminal(4);
  let sized = 0;
  const screen = new LiveScreen(out, { alternate: true, onResize: () => screen.draw([`size ${++sized}`, "b", "c", "d", "e"]) });
  screen.draw(["a", "b", "c", "d", "e"]);
  expect(out.since()).not.toContain("d");
  out.resize();
  expect(out.since()).toMatch(/\[2J.*size 1.*b.*c/s);
  screen.close();
});

test("fewer lines than before leave nothing of the old ones", () => {
  const out = terminal();
  const screen = new LiveScreen(out, { alternate: true });
  screen.draw(["a", "b", "c"]);
  out.since();
  screen.draw(["a"]);
  expect(out.since()).toContain(`${ESC}[2;1H${ESC}[J`);
  screen.close();
});

test("what listened for signals and for a new size is gone once it is closed", () => {
  const before = ["SIGINT", "SIGTSTP", "exit"].map((name) => process.listenerCount(name));
  const screen = new LiveScreen(terminal(), { alternate: true });
  screen.close();
  expect(["SIGINT", "SIGTSTP", "exit"].map((name) => process.listenerCount(name))).toEqual(before);
});
