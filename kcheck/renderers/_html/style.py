"""The CSS of the page, for wide screens, phones and print, light and dark."""

STYLE = """
:root {
  color-scheme: light dark;
  --back: #ffffff; --front: #1c2024; --soft: #5b636c; --line: #d9dee3; --panel: #f5f7f9; --link: #0b57b0;
  --fatal: #7a1020; --error: #c62f1d; --warning: #a86400; --info: #2f6db5; --clean: #2b7a3e; --chip: #ffffff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #14171a; --front: #e6e9ec; --soft: #a3acb5; --line: #363d44; --panel: #1e2327; --link: #7db4ff;
    --fatal: #f582e0; --error: #ff7a66; --warning: #f0b04a; --info: #7db4ff; --clean: #6fcf86; --chip: #14171a;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0 auto; max-width: 80rem; padding: 1rem 1.25rem 4rem; background: var(--back); color: var(--front);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; -webkit-text-size-adjust: 100%; }
a { color: var(--link); }
a:focus-visible, button:focus-visible, input:focus-visible, summary:focus-visible { outline: 3px solid var(--link);
  outline-offset: 2px; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; padding-bottom: .25rem; border-bottom: 2px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .25rem; }
p { margin: .5rem 0; max-width: 46rem; }
.facts, .soft { color: var(--soft); }
.skip { position: absolute; left: -100rem; background: var(--back); padding: .5rem .75rem; }
.skip:focus { left: .5rem; top: .5rem; z-index: 2; }
main:focus { outline: none; }
.actions { list-style: none; padding: 0; margin: .75rem 0; counter-reset: action; display: grid; gap: .75rem; }
.actions > li { counter-increment: action; position: relative; padding: .6rem .9rem .6rem 3rem;
  background: var(--panel); border: 1px solid var(--line); border-left: .3rem solid var(--warning);
  border-radius: .5rem; }
.actions > li::before { content: counter(action); position: absolute; left: 1rem; top: .55rem; font-size: 1.25rem;
  font-weight: 700; color: var(--soft); }
.actions .now { border-left-color: var(--fatal); }
.actions .before-a-restart { border-left-color: var(--error); }
.actions p { max-width: none; margin: .1rem 0; }
.actions pre { margin: .4rem 0; background: var(--back); }
.note { border-left: 4px solid var(--warning); padding-left: .75rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .75rem; padding: 0;
  margin: 1rem 0;
  list-style: none; }
.tiles li { background: var(--panel); border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .75rem; }
.tiles b { display: block; font-size: 1.5rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
.tiles .soft { font-size: .875rem; }
.trend { display: block; width: 100%; height: 2.25rem; margin-top: .35rem; }
.trend rect { stroke: none; fill: var(--soft); opacity: .55; }
.trend rect:last-of-type { opacity: 1; }
.trend rect.fatal { fill: var(--fatal); } .trend rect.error, .trend rect.losing_partitions { fill: var(--error); }
.trend rect.warning { fill: var(--warning); } .trend rect.info { fill: var(--info); }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1rem; padding: 0; margin: .5rem 0; list-style: none; }
nav a { display: inline-block; padding: .3rem 0; }
.s { display: inline-block; white-space: nowrap; padding: 0 .45em; border-radius: .3em; color: var(--chip);
  font-size: .875em; font-weight: 600; }
.s.fatal, .s.abort { background: var(--fatal); } .s.error, .s.offline { background: var(--error); }
.s.warning, .s.lost, .s.stray { background: var(--warning); } .s.info, .s.unknown { background: var(--info); }
.s.clean, .s.ok { background: var(--clean); }
dl.words { display: grid; grid-template-columns: max-content 1fr; gap: .25rem .75rem; margin: .5rem 0; }
dl.words dd { margin: 0; }
figure { margin: 1rem 0; padding: .75rem 1rem; background: var(--panel); border: 1px solid var(--line);
  border-radius: .5rem; }
figcaption { font-weight: 600; margin-bottom: .5rem; }
.chart ul { display: grid; gap: .35rem; padding: 0; margin: 0; list-style: none; }
.chart li { display: grid; grid-template-columns: minmax(8rem, 16rem) 1fr minmax(9rem, 14rem); gap: .75rem;
  align-items: center; }
.chart svg { width: 100%; height: .9rem; display: block; }
.chart .said { font-size: .875rem; color: var(--soft); }
rect { stroke: var(--panel); stroke-width: 1px; vector-effect: non-scaling-stroke; }
rect.fatal, rect.abort { fill: var(--fatal); } rect.error, rect.offline { fill: var(--error); }
rect.warning, rect.lost, rect.stray { fill: var(--warning); } rect.info, rect.unknown { fill: var(--info); }
rect.clean, rect.ok { fill: var(--clean); }
rect.fetched { fill: none; stroke: var(--soft); stroke-dasharray: 3 2; }
.wide { overflow: auto; max-height: min(40rem, 80vh); margin: .5rem 0; content-visibility: auto;
  contain-intrinsic-size: auto 30rem; }
.wide:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.data thead th { position: sticky; top: 0; background: var(--back); box-shadow: 0 1px 0 var(--line); z-index: 1; }
table { border-collapse: collapse; width: 100%; font-size: .9375rem; }
caption { text-align: left; color: var(--soft); padding: .25rem 0; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem .35rem 0;
  border-bottom: 1px solid var(--line); }
td > div { unicode-bidi: isolate; }
td:not(.n) > div { min-width: 6rem; }
td a, td.n { white-space: nowrap; }
th.n, td.n { text-align: right; font-variant-numeric: tabular-nums; }
th { overflow-wrap: normal; }
th button { all: unset; cursor: pointer; font-weight: 600; border-bottom: 1px dotted var(--soft); }
th[aria-sort=ascending] button::after { content: " \\2191"; }
th[aria-sort=descending] button::after { content: " \\2193"; }
.tools { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin: .75rem 0 0; }
.tools input { font: inherit; color: inherit; background: var(--back); border: 1px solid var(--soft);
  border-radius: .35rem;
  padding: .3rem .5rem; width: min(22rem, 60vw); }
details { margin: .25rem 0; }
summary { cursor: pointer; padding: .15rem 0; }
details.rule { border-bottom: 1px solid var(--line); }
details.rule > div { padding: 0 0 .75rem 1rem; }
td details { color: var(--soft); }
.look code { display: block; margin: .15rem 0; padding: .35rem .5rem; min-width: 14rem; background: var(--panel);
  border: 1px solid var(--line); border-radius: .35rem; color: var(--front); font-size: .8125rem; }
.look summary { white-space: nowrap; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: .35rem; padding: .6rem .75rem;
  overflow-x: auto;
  white-space: pre-wrap; font-size: .875rem; }
code { font-family: ui-monospace, monospace; font-size: .95em; }
footer { margin-top: 3rem; color: var(--soft); }
@media screen and (max-width: 640px) {
  body { padding: .5rem .75rem 3rem; }
  .chart li { grid-template-columns: 1fr; gap: .1rem; padding-bottom: .3rem; }
  .tools input { width: 100%; }
  .tools label { flex: 1 1 100%; }
  th button { display: inline-block; padding: .35rem 0; }
  .data thead th { position: static; box-shadow: none; }
  .actions > li { padding-left: 2.2rem; }
  .actions > li::before { left: .75rem; }
  .look code { min-width: 0; }
  .data thead tr { display: flex; flex-wrap: wrap; gap: 0 1rem; }
  .data thead th { border: 0; padding: 0; }
  .data thead tr::before { content: "Sort by"; color: var(--soft); padding: .35rem 0; }
  .data, .data caption, .data thead, .data tbody, .data tbody tr { display: block; }
  .data tbody tr { border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .75rem; margin: .5rem 0; }
  .data.static thead { display: none; }
  .data tbody td { display: grid; grid-template-columns: 7rem 1fr; gap: .5rem; border: 0; padding: .1rem 0;
    text-align: left; }
  .data tbody td::before { content: attr(data-label); color: var(--soft); white-space: normal; }
}
[hidden], .data tbody tr[hidden] { display: none; }
@media print {
  :root { color-scheme: light; --back: #ffffff; --front: #000000; --soft: #444444; --line: #bbbbbb;
    --panel: #ffffff; --link: #000000;
    --fatal: #7a1020; --error: #c62f1d; --warning: #a86400; --info: #2f6db5; --clean: #2b7a3e; --chip: #ffffff; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  .tools, nav, .skip { display: none; }
  .wide { overflow: visible; max-height: none; content-visibility: visible; }
  .data thead th { position: static; }
  table { font-size: 8.5pt; }
  thead { display: table-header-group; }
  tr, li, figure { break-inside: avoid; }
  h2 { break-after: avoid; }
  .s, rect { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""
