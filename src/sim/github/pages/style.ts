/** How the pages look, by day and by night. Colours are those of the bot's page. */
export const PAGE_STYLE = `:root { color-scheme: light dark; --ink: #1d2430; --quiet: #5c6675; --paper: #f5f6f8; --card: #fff; --line: #dfe3e9; --soft: #eef1f5;
  --live: #1a7f4b; --move: #1f6fd6; --wait: #8a6a00; --bad: #c0262d; --merged: #7547c9; --add: #e3f6ea; --del: #fdeaea; --bar: #1b2330; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ebf0; --quiet: #9aa5b5; --paper: #12161c; --card: #1b212a; --line: #2c3542; --soft: #232b36;
  --live: #4fca8a; --move: #6eaeff; --wait: #e3b94a; --bad: #ff7a80; --merged: #b693f5; --add: #17321f; --del: #3b1e21; --bar: #0c0f14; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; overflow-wrap: anywhere; }
a { color: var(--move); text-decoration: none; } a:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--move); outline-offset: 2px; }
code, pre, .lines, .branch { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .86em; }
.quiet, .quiet a, .under, footer { color: var(--quiet); } .quiet a:hover { color: var(--move); }
header.top { background: var(--bar); color: #e8ebf0; display: flex; flex-wrap: wrap; gap: 4px 24px; justify-content: space-between; align-items: center; padding: 12px max(24px, calc(50vw - 616px)); }
header.top nav { display: flex; align-items: center; gap: 8px; } header.top a { color: inherit; } header.top nav i { opacity: .5; }
header.top p { margin: 0; display: flex; flex-wrap: wrap; align-items: center; gap: 4px 18px; font-size: 13px; color: #aab4c2; font-variant-numeric: tabular-nums; }
.brand { display: flex; align-items: center; gap: 8px; font-weight: 600; margin-right: 12px; } .brand svg { width: 20px; fill: #6eaeff; }
.home { border: 1px solid #45536a; border-radius: 6px; padding: 1px 10px; } .you { display: flex; align-items: center; gap: 6px; } .you b { color: #fff; }
.tabs { display: flex; flex-wrap: wrap; gap: 4px; border-bottom: 1px solid var(--line); padding: 8px max(24px, calc(50vw - 616px)) 0; background: var(--card); }
.tabs a { color: var(--ink); padding: 6px 12px 9px; border-bottom: 2px solid transparent; } .tabs a:hover { text-decoration: none; border-color: var(--line); }
.tabs a[aria-current] { border-color: var(--move); font-weight: 600; }
.tabs.inner { background: none; padding: 0; margin: 18px 0 20px; } .tabs .sums { margin-left: auto; align-self: center; font-size: 13px; }
.count { background: var(--soft); border-radius: 99px; padding: 1px 8px; color: var(--quiet); font-weight: 400; }
main { max-width: 1280px; margin: 0 auto; padding: 24px; } footer { max-width: 1280px; margin: 0 auto; padding: 16px 24px 40px; font-size: 13px; }
h1 { font-size: 25px; font-weight: 600; line-height: 1.25; margin: 4px 0 8px; letter-spacing: -.01em; } h1 .quiet { font-weight: 400; }
.under { margin: 0 0 12px; } main > h2 { font-size: 17px; margin: 28px 0 8px; }
.icon { width: 13px; height: 13px; flex: none; vertical-align: -1px; color: var(--quiet); }
.i-open, .i-success { color: var(--live); } .i-closed, .i-failure { color: var(--bad); } .i-merged { color: var(--merged); } .i-pending { color: var(--wait); } .folder { color: var(--move); }
.state { display: inline-flex; align-items: center; gap: 6px; color: #fff; border-radius: 99px; padding: 3px 12px; font-size: 13px; font-weight: 600; margin-right: 6px; background: var(--quiet); }
.state .icon { color: inherit; } .state.open { background: #1a7f4b; } .state.merged { background: #7547c9; } .state.closed { background: #c0262d; }
.branch { background: color-mix(in srgb, var(--move) 12%, transparent); border-radius: 5px; padding: 1px 7px; }
.who { color: var(--ink); font-weight: 600; } .mark { border: 1px solid var(--line); border-radius: 99px; padding: 0 7px; font-size: 12px; color: var(--quiet); font-weight: 400; } .mark.good { color: var(--live); border-color: currentColor; }
.avatar { display: inline-grid; place-items: center; width: 22px; height: 22px; border-radius: 50%; color: #fff; font-size: 12px; font-weight: 600; vertical-align: -5px; flex: none; } .avatar.bot { border-radius: 6px; }
.a0 { background: #1f6fd6; } .a1 { background: #7547c9; } .a2 { background: #1a7f4b; } .a3 { background: #b0562a; } .a4 { background: #0f7f8a; } .a5 { background: #a8326f; }
.columns { display: grid; grid-template-columns: minmax(0, 1fr) 240px; gap: 28px; } aside section { border-bottom: 1px solid var(--line); padding: 4px 0 10px; } aside h2 { font-size: 13px; margin: 8px 0 2px; color: var(--quiet); } aside p { margin: 0; }
.said { display: grid; grid-template-columns: 34px minmax(0, 1fr); gap: 12px; margin-bottom: 18px; } .said > .avatar { width: 34px; height: 34px; font-size: 16px; }
.bubble, .card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; } .said.own .bubble { border-color: color-mix(in srgb, var(--move) 50%, var(--line)); } .said:target .bubble { border-color: var(--move); box-shadow: 0 0 0 1px var(--move); }
.by { margin: 0; padding: 7px 16px; background: var(--soft); border-radius: 10px 10px 0 0; border-bottom: 1px solid var(--line); font-size: 14px; }
.text { padding: 12px 16px; } .text > :first-child { margin-top: 0; } .text > :last-child { margin-bottom: 0; }
.text h1, .text h2, .text h3, .text h4 { font-size: 17px; margin: 18px 0 8px; } .text h1 { font-size: 20px; }
.text code { background: var(--soft); border-radius: 5px; padding: 1px 5px; } .text pre { background: var(--soft); border-radius: 8px; padding: 12px; overflow-x: auto; } .text pre code { padding: 0; background: none; }
.text table { border-collapse: collapse; display: block; overflow-x: auto; font-size: 14px; overflow-wrap: normal; } .text th, .text td { border: 1px solid var(--line); padding: 5px 11px; text-align: left; vertical-align: top; } .text th { background: var(--soft); } .text td code { white-space: nowrap; } .text td:last-child { min-width: 210px; } .text td:last-child code { white-space: normal; overflow-wrap: anywhere; }
.text blockquote { margin: 0 0 12px; padding: 0 14px; border-left: 3px solid var(--line); color: var(--quiet); } .alert { border-left: 4px solid var(--move); padding: 4px 14px; margin: 0 0 12px; } .alert > strong { color: var(--move); } .alert p { margin: 2px 0; } .alert.warning, .alert.caution { border-color: var(--wait); } .alert.warning > strong, .alert.caution > strong { color: var(--wait); } .text details { margin: 10px 0; } .text summary { cursor: pointer; } .text sub { font-size: 13px; vertical-align: baseline; color: var(--quiet); }
.text li input { margin-right: 6px; } .text hr { border: 0; border-top: 1px solid var(--line); }
.chart { list-style: none; display: flex; flex-wrap: wrap; align-items: center; gap: 8px 0; padding: 4px 0; margin: 12px 0; }
.chart .box { border: 1.5px solid var(--move); border-radius: 8px; padding: 7px 13px; background: color-mix(in srgb, var(--move) 7%, var(--card)); max-width: 230px; } .chart b, .chart .box span { display: block; } .chart .box span { color: var(--quiet); font-size: 13px; }
.chart .arrow { display: flex; align-items: center; font-size: 12px; color: var(--quiet); max-width: 170px; text-align: center; } .chart .arrow::before { content: ""; width: 14px; border-top: 1.5px solid var(--quiet); } .chart .arrow span { padding: 0 4px; } .chart .arrow span:empty { padding: 0; } .chart .arrow::after { content: "→"; font-size: 17px; line-height: 1; margin-left: -3px; }
.event { margin: 0 0 18px 46px; color: var(--quiet); } .reactions { margin: 0; padding: 0 16px 10px; } .reactions span { border: 1px solid var(--line); border-radius: 99px; padding: 1px 9px; margin-right: 6px; }
.card { margin: 0 0 18px; } .card h2 { font-size: 15px; margin: 0; padding: 10px 16px; display: flex; flex-wrap: wrap; gap: 8px; align-items: center; border-bottom: 1px solid var(--line); } .card h2 a { color: var(--ink); } .card h2 .quiet { font-weight: 400; }
.side { margin-left: auto; flex: none; font-size: 13px; font-weight: 400; } .where { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; margin: 0 0 14px; }
.list, .checks ul, .rows { list-style: none; padding: 0; margin-top: 0; } .list > li { display: flex; gap: 10px; padding: 10px 16px; border-top: 1px solid var(--line); } .list > li:first-child { border: 0; } .list p { margin: 0; font-size: 13px; } .list .icon { margin-top: 5px; } .list ul .icon { margin: 0; }
.title { color: var(--ink); font-weight: 600; } .label { border: 1px solid var(--line); background: var(--soft); border-radius: 99px; padding: 0 9px; font-size: 12px; }
.checks ul, .card > .rows { margin: 0; padding: 6px 0; } .checks li, .card > .rows li { padding: 5px 16px; } .card > .rows li + li { border-top: 1px solid var(--line); } .rows.small { font-size: 13px; margin-top: 4px; }
.plus { color: var(--live); } .minus { color: var(--bad); } .empty { text-align: center; color: var(--quiet); padding: 40px; border: 1px dashed var(--line); border-radius: 10px; } .end { margin-left: 46px; } .message { white-space: pre-wrap; background: var(--soft); border-radius: 8px; padding: 12px; }
.wide { overflow-x: auto; } .lines { border-collapse: collapse; width: 100%; } .lines td { padding: 0 12px; white-space: pre; } .lines code { font-size: 1em; } .lines .no { width: 1%; text-align: right; color: var(--quiet); user-select: none; } .lines .no a { color: inherit; }
.lines .add { background: var(--add); } .lines .del { background: var(--del); } .lines .hunk { background: var(--soft); color: var(--quiet); } .lines tr:target { background: color-mix(in srgb, var(--wait) 22%, transparent); }
.box { margin: 26px 0 0; } .columns .box, .columns .checks { margin-left: 46px; } .columns .chart .box { margin: 0; } textarea { display: block; width: 100%; font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 10px 12px; margin: 4px 0 8px; resize: vertical; }
.button, button { font: inherit; font-weight: 600; border: 1px solid var(--line); border-radius: 8px; padding: 5px 16px; background: var(--card); color: var(--ink); cursor: pointer; } button.main { background: #1a7f4b; border-color: #1a7f4b; color: #fff; } .box p { margin: 0; text-align: right; }
.offers { border: 1px solid var(--line); border-radius: 10px; padding: 10px 16px 14px; margin-bottom: 18px; background: var(--card); display: grid; gap: 8px; } .offers.waits { border-color: var(--wait); border-left-width: 4px; background: color-mix(in srgb, var(--wait) 8%, var(--card)); } .offers h2 { font-size: 15px; margin: 0; }
.offers button { text-align: left; display: flex; gap: 12px; align-items: baseline; font-weight: 400; } .offers button:hover { border-color: var(--move); } .offers code { font-weight: 600; font-size: 14px; color: var(--move); white-space: nowrap; } .offers span { color: var(--quiet); font-size: 14px; }
body.gone::after { content: "The embedded GitHub has ended."; position: fixed; bottom: 16px; left: 50%; transform: translateX(-50%); background: var(--bad); color: #fff; border-radius: 8px; padding: 8px 18px; }
@media (max-width: 760px) { main, footer { padding: 16px; } header.top { padding: 10px 16px; } .tabs { padding: 6px 10px 0; flex-wrap: nowrap; overflow-x: auto; scrollbar-width: none; } .tabs.inner { padding: 0; flex-wrap: wrap; } .tabs a { padding: 5px 7px 8px; white-space: nowrap; font-size: 14px; } .tabs .sums { white-space: nowrap; } .columns { grid-template-columns: minmax(0, 1fr); gap: 8px; } h1 { font-size: 21px; }
  .said { grid-template-columns: minmax(0, 1fr); } .said > .avatar { display: none; } .event, .end, .columns .box, .columns .checks { margin-left: 0; } .text { padding: 10px 12px; } .lines { font-size: 12px; } .chart { flex-direction: column; align-items: stretch; } .chart .box { max-width: none; } .chart .arrow { max-width: none; padding-left: 18px; } .chart .arrow::before { display: none; } .chart .arrow::after { content: "↓"; order: -1; margin: 0 6px 0 0; } .offers button { flex-direction: column; gap: 0; } }
`;
