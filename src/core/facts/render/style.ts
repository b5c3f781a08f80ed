/** Style of the report, from 360 px, and for paper. Must not contain quotes, `<` or `&`, which would be escaped. */
export const style = `
:root {
  color-scheme: light dark;
  --paper: #fff; --ink: #1b1f24; --soft: #57606a; --line: #d5dae0; --track: #eceff2;
  --ok: #2e8b57; --alias: #1f7a99; --disposable: #b7791f; --fake: #c0392b;
  --quota_exceeded: #7d4fa8; --other: #6b7280; --empty: #aab2bb;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171b; --ink: #e6e9ec; --soft: #a3acb6; --line: #343b43; --track: #242a31;
    --ok: #4cb782; --alias: #4aa8c7; --disposable: #d9a13f; --fake: #e5695b;
    --quota_exceeded: #b48ad9; --other: #9aa3ad; --empty: #59626c;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 24px 20px 48px; max-width: 1080px; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, Arial, sans-serif;
}
h1 { margin: 0; font-size: 1.05rem; font-weight: 600; color: var(--soft); overflow-wrap: anywhere; }
h2 { margin: 0 0 10px; font-size: 1.05rem; }
h2, thead th, li, .note { overflow-wrap: anywhere; }
p { overflow-wrap: break-word; }
.lead { margin: 6px 0 0; font-size: clamp(1.5rem, 4vw, 2.1rem); line-height: 1.25; font-weight: 650; }
.sub, .note, caption, footer { color: var(--soft); }
.sub { margin: 6px 0 0; }
.grade { margin: 6px 0 0; font-weight: 600; }
.note { margin: 8px 0 0; font-size: .87em; }
section { margin-top: 30px; min-width: 0; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 400px), 1fr)); gap: 0 44px; }
.flow { columns: 400px 2; column-gap: 44px; }
.flow section { break-inside: avoid; margin-top: 0; padding-top: 30px; }
svg { display: block; width: 100%; }
.stacked { height: 30px; border-radius: 5px; margin: 20px 0 12px; }
.mini, .bar { height: 10px; border-radius: 3px; }
.months { height: 150px; }
.shares { height: 60px; }
.years { height: 1.4em; fill: var(--soft); font-size: .8rem; }
.printed { display: none; list-style: none; padding: 0; }
.grid { stroke: var(--line); vector-effect: non-scaling-stroke; }
.track { fill: var(--track); }
.ok { fill: var(--ok); } .alias { fill: var(--alias); } .disposable { fill: var(--disposable); }
.fake { fill: var(--fake); } .quota_exceeded { fill: var(--quota_exceeded); } .other { fill: var(--other); }
.empty { fill: var(--empty); }
.key { display: inline-block; width: 12px; height: 12px; margin-right: 8px; border-radius: 3px; }
table { width: 100%; border-collapse: collapse; }
caption { text-align: left; font-size: .87em; padding-bottom: 4px; }
th, td { padding: 5px 10px 5px 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th:last-child, td:last-child { padding-right: 0; }
th { font-weight: 600; }
.statuses th { white-space: nowrap; }
.statuses small { margin-left: .25em; font-weight: normal; color: var(--soft); }
thead th { font-size: .82em; color: var(--soft); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.chart { width: 34%; vertical-align: middle; }
.name { overflow-wrap: anywhere; }
.shown .name { overflow-wrap: break-word; max-width: 19em; }
.label { display: none; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 18px; margin: 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
code { font: .92em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
summary { cursor: pointer; color: var(--soft); font-size: .87em; margin-top: 8px; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 16px; font-size: .84em; color: var(--soft); margin: 8px 0 2px; }
ul { margin: 0; padding-left: 1.2em; }
.axis { display: flex; justify-content: space-between; color: var(--soft); font-size: .8em; }
@media (max-width: 600px) {
  body { padding: 16px 14px 32px; }
  .advice { display: block; padding-top: 0; }
  .statuses thead { display: none; }
  .statuses tr { display: grid; grid-template-columns: 1fr auto 4.5em; border-bottom: 1px solid var(--line); }
  .statuses th, .statuses td { border: 0; }
  td.chart { width: 20%; }
  .label { display: inline; }
  .shown thead { display: none; }
  .shown tr { display: block; padding: 6px 0; border-bottom: 1px solid var(--line); }
  .shown td { display: inline; padding: 0 8px 0 0; border: 0; }
  .shown .name { max-width: none; }
  .shown td + td + td { display: block; color: var(--soft); }
  .statuses .advice { grid-column: 1 / -1; color: var(--soft); font-size: .9rem; }
}
@media print {
  :root { color-scheme: light; }
  @page { size: A4; margin: 14mm; }
  body { max-width: none; padding: 0; font-size: 9.5pt; line-height: 1.35; print-color-adjust: exact; }
  section { margin-top: 14px; }
  h2, .note, .legend, .axis, .months, .shares { break-after: avoid; }
  tr, li, svg, dl { break-inside: avoid; }
  .columns { grid-template-columns: 1fr 1fr; gap: 0 28px; }
  .flow { columns: 2; column-gap: 28px; }
  .flow section { padding-top: 14px; }
  .months { height: 90px; }
  .shares { height: 40px; }
  th, td { padding-top: 2px; padding-bottom: 2px; }
  td.chart { width: 20%; }
  details { display: none; }
  .printed { display: block; columns: 6; font-size: 6.5pt; line-height: 1.2; margin-top: 2px; }
}
`;
