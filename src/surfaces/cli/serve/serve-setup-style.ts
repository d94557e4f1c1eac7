/** How the set-up page looks: as the page of runs does. */
export const SETUP_STYLE = `:root { color-scheme: light dark; --ink: #1d2430; --quiet: #5c6675; --paper: #f5f6f8; --card: #fff; --line: #dfe3e9;
  --live: #1a7f4b; --move: #1f6fd6; --wait: #8a6a00; --bad: #c0262d; --on: #fff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ebf0; --quiet: #9aa5b5; --paper: #12161c; --card: #1b212a; --line: #2c3542;
  --live: #4fca8a; --move: #6eaeff; --wait: #e3b94a; --bad: #ff7a80; --on: #0d1420; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, "DejaVu Sans", sans-serif; }
header, main, footer { max-width: 820px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 28px; } header p { margin: 0; font-weight: 650; letter-spacing: -.01em; }
header span { font-weight: 400; color: var(--quiet); border: 1px solid var(--line); border-radius: 99px; padding: 1px 10px; margin-left: 8px; font-size: 13px; }
h1 { font-size: 34px; line-height: 1.15; letter-spacing: -.025em; margin: 36px 0 8px; text-wrap: balance; }
h2 { font-size: 17px; margin: 0 0 12px; letter-spacing: -.01em; }
.lead { font-size: 18px; color: var(--quiet); margin: 0 0 24px; max-width: 62ch; text-wrap: pretty; } .lead.bad { color: var(--bad); }
.quiet { color: var(--quiet); font-size: 14px; }
code { font: 13.5px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
dl, section, details { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 20px 24px; margin: 0 0 20px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 10px 24px; } dt { color: var(--quiet); } dd { margin: 0; }
form { margin: 0 0 32px; } form .quiet { margin: 10px 0 0; }
button, .button { display: inline-block; font: 600 16px/1 system-ui, "DejaVu Sans", sans-serif; color: var(--on); background: var(--move); border: 0; border-radius: 10px;
  padding: 15px 24px; cursor: pointer; text-decoration: none; }
button:hover, .button:hover { filter: brightness(1.08); } button:focus-visible, .button:focus-visible, summary:focus-visible { outline: 3px solid var(--move); outline-offset: 3px; }
ol { margin: 0; padding-left: 22px; } li { margin: 0 0 8px; padding-left: 4px; } li::marker { color: var(--quiet); font-variant-numeric: tabular-nums; }
a { color: var(--move); }
table { border-collapse: collapse; width: 100%; font-size: 14.5px; } th, td { text-align: left; vertical-align: top; padding: 9px 16px 9px 0; border-top: 1px solid var(--line); }
thead th { border-top: 0; padding-top: 0; color: var(--quiet); font-weight: 400; font-size: 13px; } tbody th { font-weight: 400; white-space: nowrap; } td:last-child { padding-right: 0; }
.read, .write { font-size: 13px; border: 1px solid currentColor; border-radius: 99px; padding: 0 9px; } .read { color: var(--quiet); } .write { color: var(--move); }
summary { cursor: pointer; font-weight: 600; } details[open] summary { margin-bottom: 16px; }
footer { color: var(--quiet); font-size: 14px; padding-bottom: 40px; }
@media (max-width: 560px) { dl { grid-template-columns: 1fr; gap: 2px; } dd { margin-bottom: 10px; } h1 { font-size: 28px; } }
`;
