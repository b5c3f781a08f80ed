/** Style of the dashboard, after that of the report. */
export const style = `
.top { display: flex; flex-wrap: wrap; gap: 4px 20px; align-items: baseline; padding-bottom: 12px; border-bottom: 1px solid var(--line); }
.top .brand { font-weight: 700; color: var(--ink); text-decoration: none; }
.top nav { display: flex; flex-wrap: wrap; gap: 4px 18px; flex: 1; }
.top nav a { color: var(--soft); text-decoration: none; }
.top nav a[aria-current] { color: var(--ink); font-weight: 600; text-decoration: underline; text-underline-offset: 6px; }
main { margin-top: 22px; }
main h1 { margin-bottom: 12px; font-size: 1.6rem; color: var(--ink); font-weight: 650; }
a { color: var(--link); }
:root { --link: #175a8e; --accent: #1f5f8b; --on-accent: #fff; --bad: #a3271b; --box: #f6f8fa; }
@media (prefers-color-scheme: dark) {
  :root { --link: #7cc0f0; --accent: #2f76a8; --on-accent: #fff; --bad: #f08a7e; --box: #1c2127; }
}
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
form { margin: 0; }
form.inline { display: inline; }
.box { background: var(--box); border: 1px solid var(--line); border-radius: 8px; padding: 16px 18px; }
.fields { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 210px), 1fr)); gap: 12px 20px; }
.drop { margin-top: 14px; padding: 14px; border: 1px dashed var(--soft); border-radius: 8px; }
.drop input { margin-top: 8px; padding: 26px 14px; border: 0; cursor: pointer; }
.pair { display: grid; grid-template-columns: 1fr auto; gap: 8px; align-items: end; }
label, legend { display: block; font-weight: 600; font-size: .9rem; }
.hint { font-weight: 400; color: var(--soft); font-size: .84rem; }
input, select, textarea { font: inherit; font-weight: 400; color: var(--ink); background: var(--paper); border: 1px solid var(--soft); border-radius: 6px; padding: 7px 9px; width: 100%; max-width: 100%; }
input[type=checkbox], input[type=radio] { width: auto; margin: 0 8px 0 0; }
.sub + form, .sub + .box { margin-top: 14px; }
.box > p:first-child { margin-top: 0; }
legend { padding: 0; }
fieldset { border: 0; padding: 0; margin: 0; min-width: 0; }
.check { font-weight: 400; display: flex; align-items: center; padding: 3px 0; }
textarea { min-height: 150px; font: .95em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
button, .button { font: inherit; font-weight: 600; color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); border-radius: 6px; padding: 8px 16px; cursor: pointer; text-decoration: none; display: inline-block; }
button.quiet { color: var(--link); background: none; border-color: transparent; padding: 2px 6px; font-weight: 400; }
button.danger { background: none; color: var(--bad); border-color: var(--bad); }
.actions { display: flex; flex-wrap: wrap; gap: 12px; align-items: center; margin-top: 16px; }
.ranges { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 0 0 12px; }
.at-field { display: block; color: var(--bad); font-weight: 400; font-size: .87rem; margin-top: 3px; }
[aria-invalid] { border-color: var(--bad); }
.search { display: grid; grid-template-columns: minmax(min(100%, 240px), 2fr) 1fr 1fr auto; gap: 8px 16px; align-items: end; margin: 0 0 14px; }
.pages { display: flex; flex-wrap: wrap; gap: 4px 16px; color: var(--soft); font-size: .87rem; }
code.whole { white-space: nowrap; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 150px), 1fr)); gap: 14px; margin: 18px 0; }
.card { background: var(--box); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px; }
.card b { display: block; font-size: 1.5rem; font-weight: 650; line-height: 1.2; overflow-wrap: anywhere; }
.fault, .good { border-left: 4px solid var(--bad); padding: 10px 14px; background: var(--box); margin: 16px 0; }
.good { border-color: var(--ok); }
.secret { display: flex; flex-wrap: wrap; gap: 10px; align-items: center; margin: 8px 0; }
.secret code { background: var(--paper); border: 1px solid var(--line); border-radius: 6px; padding: 8px 10px; overflow-wrap: anywhere; white-space: pre-wrap; margin: 0; flex: 1 1 260px; font: .88em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.chart { display: grid; grid-template-columns: max-content 1fr; gap: 0 10px; margin: 14px 0 10px; }
.chart > * { grid-column: 2; }
.chart .y-axis { grid-column: 1; grid-row: 1; display: flex; flex-direction: column; justify-content: space-between; text-align: right; font-size: .8rem; color: var(--soft); font-variant-numeric: tabular-nums; line-height: 1; }
.chart-columns { height: 160px; border-bottom: 1px solid var(--soft); grid-row: 1; }
.hits rect { fill: var(--ink); opacity: 0; width: 10px; height: 160px; }
.hits rect:hover, .hits .chosen { opacity: .12; }
.chart .axis { margin-top: 4px; }
.said { min-height: 1.5em; font-size: .87rem; color: var(--soft); }
.legend { margin-top: 6px; }
progress { width: 100%; height: 14px; }
.meter { height: 8px; border-radius: 3px; min-width: 90px; max-width: 320px; margin-top: 5px; }
.empty-state { padding: 26px 18px; text-align: center; color: var(--soft); border: 1px dashed var(--line); border-radius: 8px; }
[hidden] { display: none; }
@media (max-width: 700px) {
  .search { grid-template-columns: 1fr 1fr; }
  .search label:first-child { grid-column: 1 / -1; }
  table.cards-table thead { display: none; }
  table.cards-table tr { display: grid; grid-template-columns: 1fr 1fr; gap: 2px 14px; padding: 10px 0; border-bottom: 1px solid var(--line); }
  table.cards-table td { border: 0; padding: 0; text-align: left; }
  table.cards-table td.number { text-align: left; white-space: normal; }
  table.cards-table td::before { content: attr(data-label); display: block; color: var(--soft); font-size: .78rem; }
  table.cards-table td:first-child { grid-column: 1 / -1; }
  table.cards-table td:first-child::before { content: none; }
}
@media print { .top nav, form, .actions, button { display: none; } }
`;
