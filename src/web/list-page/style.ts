/** Style sheet of the page, after those of the report and the dashboard. */
export const style = `
body { min-height: 100vh; }
.head h1 { margin: 0; font-size: clamp(1.4rem, 4vw, 2rem); color: var(--ink); font-weight: 650; }
.promise { border-left: 4px solid var(--ok); padding: 10px 14px; background: var(--box); margin: 16px 0; }
.promise b { display: block; }
.drop { border: 2px dashed var(--soft); border-radius: 12px; padding: 34px 18px; text-align: center; background: var(--box); }
.drop.over { border-color: var(--link); background: var(--track); }
.drop p { margin: 0 0 10px; }
.drop .big { font-size: 1.25rem; font-weight: 650; }
.drop input { position: absolute; width: 1px; height: 1px; opacity: 0; }
.drop label.button { display: inline-block; color: var(--on-accent); }
.drop input:focus-visible + label { outline: 3px solid var(--link); outline-offset: 2px; }
.kinds { display: flex; flex-wrap: wrap; gap: 4px 18px; align-items: center; margin: 14px 0; }
details.paste { margin-top: 16px; }
details.paste textarea { margin-top: 8px; }
.lead { margin-top: 22px; }
.tools { display: flex; flex-wrap: wrap; gap: 10px 16px; align-items: end; margin: 14px 0; }
.tools.line { align-items: center; }
.tools label { flex: 0 1 300px; }
.bad td { vertical-align: middle; }
.bad button { padding: 3px 10px; font-size: .87rem; white-space: nowrap; }
.bad button[aria-pressed=true] { background: var(--ok); border-color: var(--ok); color: var(--on-good); }
:root { --on-good: #fff; --ok: #23784a; }
@media (prefers-color-scheme: dark) { :root { --on-good: #10151a; --ok: #4cb782; } }
td.chart { display: table-cell; }
h2[tabindex]:focus { outline: none; }
.options label { padding: 3px 0; }
@media (max-width: 600px) {
  .bad thead { display: none; }
  .bad tr { display: block; padding: 8px 0; border-bottom: 1px solid var(--line); }
  .bad td { display: block; border: 0; padding: 1px 0; text-align: left; }
  .bad td.number { display: none; }
}
`;
