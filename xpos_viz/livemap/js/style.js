/** The style sheet, in units of the page's type; colours come from the theme, and from the host where it has its own. */

/** Rules for what mount makes. */
export const STYLE = `
.lm-root {
  --ink: var(--st-text-color, var(--lm-text));
  --ground: var(--st-background-color, var(--lm-page));
  --accent: var(--st-primary-color, #1f5d99);
  --edge: color-mix(in srgb, var(--ink) 28%, transparent);
  color: var(--ink);
  font: .875rem/1.4 var(--st-font, system-ui), "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei",
    sans-serif;
  display: flow-root;
}
.lm-root *, .lm-root *::before { box-sizing: border-box; }
.lm-root [hidden] { display: none; }
.lm-controls { display: grid; gap: .625rem; margin-bottom: .875rem; }
.lm-sliders {
  display: grid;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 11.875rem), 1fr));
  gap: .25rem 1.5rem;
}
.lm-slider { display: flex; align-items: flex-end; gap: .5rem; min-width: 0; }
.lm-label { flex: 1; display: flex; flex-wrap: wrap; }
.lm-name { font-size: .8125rem; }
.lm-label .lm-now { margin-left: auto; }
.lm-help {
  display: inline-block;
  flex: none;
  align-self: center;
  width: .9375rem;
  height: .9375rem;
  margin-left: .3125rem;
  border: 1px solid var(--edge);
  border-radius: 50%;
  font-size: .625rem;
  line-height: .8125rem;
  text-align: center;
  cursor: help;
}
.lm-slider, .lm-choices { position: relative; }
.lm-help:focus::after {
  content: attr(aria-label);
  position: absolute;
  inset: calc(100% + .25rem) 0 auto;
  z-index: 6;
  max-width: 28.75rem;
  padding: .5rem .75rem;
  background: var(--ground);
  border: 1px solid var(--edge);
  border-radius: .5rem;
  box-shadow: 0 .375rem 1.25rem rgb(0 0 0 / 25%);
  font-size: .8125rem;
  line-height: 1.4;
  text-align: start;
}
.lm-now { font-size: .8125rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.lm-range {
  -webkit-appearance: none;
  appearance: none;
  width: 100%;
  height: 1.75rem;
  margin: 0;
  background: none;
  cursor: pointer;
}
.lm-range::-webkit-slider-runnable-track { height: .25rem; border-radius: 2px; background: var(--edge); }
.lm-range::-moz-range-track { height: .25rem; border-radius: 2px; background: var(--edge); }
.lm-range::-webkit-slider-thumb {
  -webkit-appearance: none;
  width: 1.125rem;
  height: 1.125rem;
  margin-top: -.4375rem;
  border: 2px solid var(--ground);
  border-radius: 50%;
  background: var(--accent);
}
.lm-range::-moz-range-thumb {
  width: .875rem;
  height: .875rem;
  border: 2px solid var(--ground);
  border-radius: 50%;
  background: var(--accent);
}
.lm-root :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: .25rem; }
.lm-track { position: relative; width: 100%; height: 1.75rem; cursor: pointer; touch-action: pan-y; }
.lm-track::before {
  content: "";
  position: absolute;
  inset: .75rem 0;
  border-radius: 2px;
  background: linear-gradient(to right, var(--edge) var(--from), var(--accent) var(--from) var(--to),
    var(--edge) var(--to));
}
.lm-track .lm-range { position: absolute; inset: 0; pointer-events: none; }
.lm-track .lm-range::-webkit-slider-runnable-track { background: none; }
.lm-track .lm-range::-moz-range-track { background: none; }
.lm-play, .lm-button, .lm-select {
  font: inherit;
  font-size: .8125rem;
  color: inherit;
  background: var(--ground);
  border: 1px solid var(--edge);
  border-radius: .375rem;
  min-height: 2rem;
  padding: 0 .625rem;
  cursor: pointer;
}
.lm-play { width: 2rem; min-width: 2rem; height: 1.75rem; min-height: 1.75rem; padding: 0; font-size: .75rem; }
.lm-play:hover, .lm-button:hover, .lm-select:hover { border-color: var(--accent); }
.lm-on, .lm-button[aria-pressed="true"] {
  border-color: var(--accent);
  color: var(--accent);
}
.lm-choices { display: flex; flex-wrap: wrap; align-items: flex-end; gap: .5rem 1rem; }
.lm-choice { display: grid; gap: .1875rem; min-width: 0; }
.lm-select { max-width: 100%; }
.lm-segments { border: 0; margin: 0; padding: 0; min-width: 0; }
.lm-segments legend { padding: 0; margin-bottom: .1875rem; }
.lm-row { display: flex; border: 1px solid var(--edge); border-radius: .375rem; overflow: hidden; }
.lm-segment { cursor: pointer; }
.lm-segment + .lm-segment { border-left: 1px solid var(--edge); }
.lm-radio { position: absolute; opacity: 0; width: 1px; height: 1px; }
.lm-words { display: block; padding: 0 .6875rem; font-size: .8125rem; line-height: 1.875rem; white-space: nowrap; }
.lm-radio:checked + .lm-words {
  background: color-mix(in srgb, var(--accent) 16%, transparent);
  font-weight: 600;
}
.lm-radio:focus-visible + .lm-words { outline: 2px solid var(--accent); outline-offset: -2px; }
.lm-stacked .lm-choices { display: grid; grid-template-columns: 1fr 1fr; gap: .5rem .625rem; }
.lm-stacked .lm-segments { grid-column: 1 / -1; }
.lm-stacked .lm-segment { flex: 1 1 auto; text-align: center; }
.lm-stacked .lm-select { width: 100%; padding: 0 .25rem; }
.lm-menu { position: relative; margin-left: auto; }
.lm-menu summary { list-style: none; display: flex; align-items: center; }
.lm-menu summary::-webkit-details-marker { display: none; }
.lm-sheet {
  position: absolute;
  right: 0;
  z-index: 5;
  display: grid;
  gap: .625rem;
  min-width: 12.5rem;
  margin-top: .25rem;
  padding: .75rem;
  background: var(--ground);
  border: 1px solid var(--edge);
  border-radius: .5rem;
  box-shadow: 0 .375rem 1.25rem rgb(0 0 0 / 25%);
}
.lm-sheet .lm-button { text-align: left; }
.lm-maps { position: relative; cursor: crosshair; touch-action: pan-y; }
.lm-maps.lm-zoomed { touch-action: none; }
.lm-maps canvas, .lm-graph { display: block; width: 100%; }
.lm-over { position: absolute; inset: 0; pointer-events: none; }
.lm-graph { touch-action: pan-y; }
.lm-readout {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: .25rem 1.125rem;
  min-height: 4.75rem;
  margin: .375rem 0 .625rem;
  padding: .5rem .75rem;
  border: 1px solid var(--edge);
  border-radius: .5rem;
  background: var(--ground);
  font-variant-numeric: tabular-nums;
}
.lm-stacked { --foot: 34svh; }
.lm-stacked .lm-controls {
  position: sticky;
  bottom: 0;
  z-index: 3;
  max-height: var(--foot);
  margin: 0 -.25rem;
  padding: .75rem .25rem;
  overflow-y: auto;
  overscroll-behavior: contain;
  background: var(--ground);
  border-top: 1px solid var(--edge);
}
.lm-stacked .lm-sheet { position: fixed; inset: auto 1rem 1rem auto; }
.lm-stacked .lm-help:focus::after { position: fixed; inset: auto 1rem calc(var(--foot) + .375rem); }
.lm-stacked .lm-readout * { scroll-margin-bottom: calc(var(--foot) + 1rem); }
.lm-stacked .lm-reading {
  position: sticky;
  bottom: calc(var(--foot) + .375rem);
  z-index: 3;
  padding: .375rem .625rem;
}
.lm-stacked .lm-reading .lm-buttons { position: absolute; right: .5rem; bottom: .375rem; }
.lm-place { min-width: min(100%, 15.625rem); overflow-wrap: anywhere; }
.lm-hint { flex: 1 1 18.75rem; font-size: .8125rem; opacity: 0.8; }
.lm-numbers { display: flex; flex-wrap: wrap; gap: 2px 1.125rem; flex: 1 1 auto; }
.lm-chip { white-space: nowrap; }
.lm-mark { display: inline-block; width: .625rem; height: .625rem; margin-right: .375rem; border-radius: 2px; }
.lm-buttons { display: flex; gap: .5rem; margin-left: auto; }
.lm-spoken { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.lm-notes { margin: 2px 0 .875rem; font-size: .75rem; opacity: 0.85; }
@media (pointer: coarse) {
  .lm-play, .lm-button, .lm-select { min-height: 2.5rem; }
  .lm-play { width: 2.5rem; }
  .lm-words { line-height: 2.375rem; }
}
`;
