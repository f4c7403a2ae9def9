/** The style sheet; colours come from the theme, and from the host where it has its own. */

/** Rules for what mount makes. */
export const STYLE = `
.lm-root {
  --ink: var(--st-text-color, var(--lm-text));
  --ground: var(--st-background-color, var(--lm-page));
  --accent: var(--st-primary-color, #1f5d99);
  --edge: color-mix(in srgb, var(--ink) 28%, transparent);
  color: var(--ink);
  font: 14px/1.4 var(--st-font, system-ui), "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei",
    sans-serif;
  display: flow-root;
}
.lm-root *, .lm-root *::before { box-sizing: border-box; }
.lm-root [hidden] { display: none; }
.lm-controls { display: grid; gap: 10px; margin-bottom: 14px; }
.lm-sliders {
  display: grid;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 190px), 1fr));
  gap: 4px 24px;
}
.lm-slider { display: flex; align-items: flex-end; gap: 8px; min-width: 0; }
.lm-label { flex: 1; display: flex; flex-wrap: wrap; }
.lm-name { font-size: 13px; }
.lm-label .lm-now { margin-left: auto; }
.lm-help {
  display: inline-block;
  flex: none;
  align-self: center;
  width: 15px;
  height: 15px;
  margin-left: 5px;
  border: 1px solid var(--edge);
  border-radius: 50%;
  font-size: 10px;
  line-height: 13px;
  text-align: center;
  cursor: help;
}
.lm-slider, .lm-choices { position: relative; }
.lm-help:focus::after {
  content: attr(aria-label);
  position: absolute;
  inset: calc(100% + 4px) 0 auto;
  z-index: 6;
  max-width: 460px;
  padding: 8px 12px;
  background: var(--ground);
  border: 1px solid var(--edge);
  border-radius: 8px;
  box-shadow: 0 6px 20px rgb(0 0 0 / 25%);
  font-size: 13px;
  line-height: 1.4;
  text-align: start;
}
.lm-now { font-size: 13px; font-weight: 600; font-variant-numeric: tabular-nums; }
.lm-range {
  -webkit-appearance: none;
  appearance: none;
  width: 100%;
  height: 28px;
  margin: 0;
  background: none;
  cursor: pointer;
}
.lm-range::-webkit-slider-runnable-track { height: 4px; border-radius: 2px; background: var(--edge); }
.lm-range::-moz-range-track { height: 4px; border-radius: 2px; background: var(--edge); }
.lm-range::-webkit-slider-thumb {
  -webkit-appearance: none;
  width: 18px;
  height: 18px;
  margin-top: -7px;
  border: 2px solid var(--ground);
  border-radius: 50%;
  background: var(--accent);
  pointer-events: auto;
}
.lm-range::-moz-range-thumb {
  width: 14px;
  height: 14px;
  border: 2px solid var(--ground);
  border-radius: 50%;
  background: var(--accent);
  pointer-events: auto;
}
.lm-root :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.lm-track { position: relative; width: 100%; height: 28px; }
.lm-track::before {
  content: "";
  position: absolute;
  inset: 12px 0;
  border-radius: 2px;
  background: linear-gradient(to right, var(--edge) var(--from), var(--accent) var(--from) var(--to),
    var(--edge) var(--to));
}
.lm-track .lm-range { position: absolute; inset: 0; pointer-events: none; }
.lm-track .lm-range::-webkit-slider-runnable-track { background: none; }
.lm-track .lm-range::-moz-range-track { background: none; }
.lm-play, .lm-button, .lm-select {
  font: inherit;
  font-size: 13px;
  color: inherit;
  background: var(--ground);
  border: 1px solid var(--edge);
  border-radius: 6px;
  min-height: 32px;
  padding: 0 10px;
  cursor: pointer;
}
.lm-play { width: 32px; min-width: 32px; height: 28px; min-height: 28px; padding: 0; font-size: 12px; }
.lm-play:hover, .lm-button:hover, .lm-select:hover { border-color: var(--accent); }
.lm-on, .lm-button[aria-pressed="true"] {
  border-color: var(--accent);
  color: var(--accent);
}
.lm-choices { display: flex; flex-wrap: wrap; align-items: flex-end; gap: 8px 16px; }
.lm-choice { display: grid; gap: 3px; min-width: 0; }
.lm-select { max-width: 100%; }
.lm-segments { border: 0; margin: 0; padding: 0; min-width: 0; }
.lm-segments legend { padding: 0; margin-bottom: 3px; }
.lm-row { display: flex; border: 1px solid var(--edge); border-radius: 6px; overflow: hidden; }
.lm-segment { cursor: pointer; }
.lm-segment + .lm-segment { border-left: 1px solid var(--edge); }
.lm-radio { position: absolute; opacity: 0; width: 1px; height: 1px; }
.lm-words { display: block; padding: 0 11px; font-size: 13px; line-height: 30px; white-space: nowrap; }
.lm-radio:checked + .lm-words {
  background: color-mix(in srgb, var(--accent) 16%, transparent);
  font-weight: 600;
}
.lm-radio:focus-visible + .lm-words { outline: 2px solid var(--accent); outline-offset: -2px; }
.lm-stacked .lm-choices { display: grid; grid-template-columns: 1fr 1fr; gap: 8px 10px; }
.lm-stacked .lm-segments { grid-column: 1 / -1; }
.lm-stacked .lm-segment { flex: 1 1 auto; text-align: center; }
.lm-stacked .lm-select { width: 100%; padding: 0 4px; }
.lm-menu { position: relative; margin-left: auto; }
.lm-menu summary { list-style: none; display: flex; align-items: center; }
.lm-menu summary::-webkit-details-marker { display: none; }
.lm-sheet {
  position: absolute;
  right: 0;
  z-index: 5;
  display: grid;
  gap: 10px;
  min-width: 200px;
  margin-top: 4px;
  padding: 12px;
  background: var(--ground);
  border: 1px solid var(--edge);
  border-radius: 8px;
  box-shadow: 0 6px 20px rgb(0 0 0 / 25%);
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
  gap: 4px 18px;
  min-height: 76px;
  margin: 6px 0 10px;
  padding: 8px 12px;
  border: 1px solid var(--edge);
  border-radius: 8px;
  background: var(--ground);
  font-variant-numeric: tabular-nums;
}
.lm-stacked .lm-reading { position: sticky; bottom: 6px; z-index: 3; padding: 6px 10px; }
.lm-stacked .lm-reading .lm-buttons { position: absolute; right: 8px; bottom: 6px; }
.lm-place { min-width: min(100%, 250px); overflow-wrap: anywhere; }
.lm-hint { flex: 1 1 300px; font-size: 13px; opacity: 0.8; }
.lm-numbers { display: flex; flex-wrap: wrap; gap: 2px 18px; flex: 1 1 auto; }
.lm-chip { white-space: nowrap; }
.lm-mark { display: inline-block; width: 10px; height: 10px; margin-right: 6px; border-radius: 2px; }
.lm-buttons { display: flex; gap: 8px; margin-left: auto; }
.lm-spoken { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.lm-notes { margin: 2px 0 14px; font-size: 12px; opacity: 0.85; }
@media (pointer: coarse) {
  .lm-play, .lm-button, .lm-select { min-height: 40px; }
  .lm-play { width: 40px; }
  .lm-words { line-height: 38px; }
}
`;
