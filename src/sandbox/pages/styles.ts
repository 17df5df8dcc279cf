/** Both pages: system fonts, a light and a dark palette with at least 4.5:1 contrast, a focus ring one can't miss. */
const shared = `
:root { color-scheme: light dark; --ink: #17212b; --soft: #4d5b69; --paper: #ffffff; --back: #f2f5f7; --line: #cdd6de;
  --accent: #0b6b5d; --on-accent: #ffffff; --warn: #9a3412; --warn-back: #fff3ea; --good: #0b6b5d; --good-back: #e6f4f1;
  --code: #eef2f5; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8edf2; --soft: #a9b6c2; --paper: #1a222a; --back: #11171d;
  --line: #3a4753; --accent: #5cc9b5; --on-accent: #06231e; --warn: #ffb48a; --warn-back: #3b2013; --good: #5cc9b5;
  --good-back: #10332d; --code: #232d37; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink); font: 16px/1.5 system-ui, "Segoe UI", "Noto Sans",
  "Noto Sans Arabic", sans-serif; }
h1, h2, h3 { line-height: 1.25; margin: 0; } h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; } h3 { font-size: 1rem; }
p { margin: .4rem 0; } a { color: var(--accent); }
button { font: inherit; font-weight: 600; padding: .45rem .9rem; border-radius: .5rem; border: 1px solid var(--accent);
  background: var(--paper); color: var(--accent); cursor: pointer; min-height: 2.4rem; }
a.button { display: inline-block; font-weight: 600; padding: .45rem .9rem; border-radius: .5rem; border: 1px solid var(--accent); text-decoration: none; }
button:hover, a.button:hover { background: var(--good-back); }
button.primary { background: var(--accent); color: var(--on-accent); } button.primary:hover { filter: brightness(1.1); }
:focus-visible { outline: 3px solid #d97706; outline-offset: 2px; }
input, select { font: inherit; padding: .4rem .55rem; border: 1px solid var(--soft); border-radius: .4rem;
  background: var(--paper); color: var(--ink); min-height: 2.4rem; max-width: 100%; }
code, pre { font: .875rem/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
code { background: var(--code); padding: .05rem .3rem; border-radius: .25rem; overflow-wrap: anywhere; }
.soft { color: var(--soft); } .ltr { direction: ltr; unicode-bidi: isolate; } code.ltr { display: inline-block; }
.notice { border-radius: .5rem; padding: .7rem 1rem; margin: 1rem 0; border: 1px solid var(--line); }
.notice.warn { background: var(--warn-back); color: var(--warn); border-color: currentColor; }
.notice.good { background: var(--good-back); color: var(--good); border-color: currentColor; }
`;

export const checkoutStyles = `${shared}
main { max-width: 34rem; margin: 2rem auto; padding: 0 1rem; }
.card { background: var(--paper); border: 1px solid var(--line); border-radius: .9rem; padding: 1.5rem; }
header { display: flex; justify-content: space-between; align-items: center; gap: 1rem; margin-block-end: 1rem; }
table { width: 100%; border-collapse: collapse; margin: 1rem 0; }
caption { text-align: start; font-weight: 600; padding-block-end: .3rem; }
th, td { padding: .45rem 0; border-block-end: 1px solid var(--line); font-weight: 400; text-align: start; }
td { text-align: end; font-variant-numeric: tabular-nums; white-space: nowrap; padding-inline-start: .8rem; }
tfoot th, tfoot td { font-weight: 700; font-size: 1.15rem; border: 0; padding-block-start: .8rem; }
.choices { display: grid; gap: .7rem; margin-block-start: 1.2rem; }
.choices button { width: 100%; padding: .75rem; }
.foot { text-align: center; font-size: .9rem; padding-block: .5rem; } h1, p, dd, th { overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: auto 1fr; gap: .2rem 1rem; margin: 1rem 0; } dt { color: var(--soft); } dd { margin: 0; }
`;

export const controlStyles = `${shared}
body > header { background: var(--paper); border-block-end: 1px solid var(--line); padding: 1rem 1.5rem; display: flex;
  flex-wrap: wrap; gap: .5rem 2rem; align-items: center; justify-content: space-between; }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; }
main { padding: 1rem 1.5rem 3rem; max-width: 84rem; margin: 0 auto; }
section { margin-block-start: 1.8rem; } section > h2, section > .row { margin-block-end: .7rem; }
.grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 1rem; }
.card { background: var(--paper); border: 1px solid var(--line); border-radius: .7rem; padding: 1rem; margin-block-end: 1rem; }
.grid .card { margin: 0; }
.row { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; } .row.spread { justify-content: space-between; }
form.row { display: inline-flex; }
table { width: 100%; border-collapse: collapse; margin-block-start: .6rem; }
th, td { text-align: start; padding: .4rem .6rem .4rem 0; border-block-end: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; font-size: .9rem; }
td.number, th.number { text-align: end; padding-inline-end: 1.5rem; font-variant-numeric: tabular-nums; white-space: nowrap; }
.badge { display: inline-block; padding: .05rem .6rem; border-radius: 1rem; background: var(--code); font-size: .9rem;
  font-weight: 600; white-space: nowrap; }
.badge.good { background: var(--good-back); color: var(--good); } .badge.warn { background: var(--warn-back); color: var(--warn); }
pre { background: var(--code); padding: .7rem; border-radius: .4rem; white-space: pre-wrap; overflow-wrap: anywhere; margin: .3rem 0; }
summary { cursor: pointer; padding: .25rem 0; } details details { margin-inline-start: 1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: .5rem 0; } dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
.fields { display: grid; grid-template-columns: repeat(auto-fill, minmax(11rem, 1fr)); gap: .7rem 1rem; margin: .6rem 0; }
label.field { display: grid; gap: .15rem; font-size: .9rem; color: var(--soft); align-content: end; } label.field input { width: 100%; }
.grid .wide { grid-column: 1 / -1; } .delivery h3 { margin-block-start: .6rem; }
.delivery { border-block-end: 1px solid var(--line); padding: .35rem 0; } .delivery > summary { display: flex; flex-wrap: wrap; gap: .3rem .9rem; align-items: center; }
.delivery > summary::before { content: "▸"; } .delivery[open] > summary::before { content: "▾"; }
.entry + .entry { border-block-start: 1px solid var(--line); padding-block-start: .5rem; margin-block-start: .5rem; }
h3, .entry, td { overflow-wrap: anywhere; } .narrow { display: none; }
@media (max-width: 40rem) {
  body > header, main { padding-inline: 1rem; } form .row input { flex: 1 1 12rem; min-width: 0; }
  .stacks thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .stacks tr { display: flex; flex-wrap: wrap; gap: .1rem .8rem; padding-block: .5rem; border-block-end: 1px solid var(--line); }
  .stacks td { border: 0; padding: 0; } .stacks td:last-child { flex-basis: 100%; padding-block-start: .3rem; } .narrow { display: inline; }
}
td button, .delivery button, .small button { padding: .15rem .6rem; min-height: 1.9rem; font-size: .9rem; }
`;
