/**
 * The styles of the page. Colour-blind readers can distinguish blue and orange, and colour is never the only
 * carrier of meaning: shapes, signs and words carry it too.
 */
import { Markup } from './markup.ts';

const LIGHT = `
--ground:#f4f6f8;--panel:#fff;--ink:#151b23;--muted:#55606e;--line:#d8dee6;--strip:#f1f4f7;
--good:#0b66a8;--bad:#b84300;--soft:#cfe4f5;--core:#7db5dd;--good-panel:#eef6fc;--bad-panel:#fff3ea;`;

const DARK = `
--ground:#0e1217;--panel:#161b22;--ink:#e7ebf0;--muted:#9ba6b4;--line:#2c343e;--strip:#1b212a;
--good:#63b3ee;--bad:#ff9c52;--soft:#1f3f5a;--core:#35729f;--good-panel:#12232f;--bad-panel:#2c1e13;`;

const BASE = `
:root{color-scheme:light dark;${LIGHT}}
@media screen and (prefers-color-scheme:dark){:root{${DARK}}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0 auto;max-width:1168px;padding:16px;background:var(--ground);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
a{color:var(--good)}
h1,h2,h3,p,ul,dl,dd,figure{margin:0}
h1{font-size:clamp(1.5rem,4vw,2.25rem);line-height:1.2;overflow-wrap:anywhere}
h2{font-size:1.25rem;line-height:1.3;margin-bottom:8px}
h3{font-size:1rem;margin-bottom:8px}
header{padding:8px 0 16px}
header p{color:var(--muted)}
.kicker{font-size:.8rem;letter-spacing:.08em;text-transform:uppercase}
nav ul{display:flex;flex-wrap:wrap;gap:4px 20px;padding:0;margin-top:12px;list-style:none}
section{background:var(--panel);border:1px solid var(--line);border-radius:12px;padding:20px;margin-bottom:16px}
section>p{max-width:75ch}
section>p+p{margin-top:6px}
section>p+h3{margin-top:16px}
footer{color:var(--muted);font-size:.85rem;padding:4px 4px 24px}
footer p{max-width:90ch}
.passed{color:var(--good)}
.failed,.outside{color:var(--bad)}
code{white-space:nowrap}
.note{color:var(--muted);font-size:.85rem}`;

const VERDICT = `
.verdict{border-left:8px solid var(--muted);color:var(--ink)}
.verdict.passed{border-left-color:var(--good);background:var(--good-panel)}
.verdict.failed{border-left-color:var(--bad);background:var(--bad-panel)}
.verdict h2{display:flex;align-items:center;gap:12px;font-size:clamp(1.3rem,3.4vw,1.9rem)}
.sign{flex:none;width:1.5em;height:1.5em;border-radius:50%;display:grid;place-items:center;
font-size:.8em;line-height:1;color:var(--panel);background:var(--muted)}
.verdict.passed .sign{background:var(--good)}
.verdict.failed .sign{background:var(--bad)}
dl{display:flex;flex-wrap:wrap;gap:8px 36px;margin:12px 0}
dl div{display:flex;flex-direction:column-reverse}
.trace{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px;align-items:baseline}
.trace dd{overflow-wrap:anywhere;font-size:.9rem;font-weight:400}
dd{font-size:1.6rem;font-weight:600;line-height:1.2;font-variant-numeric:tabular-nums}
dt{color:var(--muted);font-size:.85rem}
.limits ul,#rule ul{padding-left:1.1em;max-width:90ch}
.limits li+li,#rule li+li{margin-top:4px}`;

const TABLES = `
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;min-width:860px;font-size:.92rem}
th,td{padding:6px 12px 6px 0;text-align:left;vertical-align:baseline;border-bottom:1px solid var(--line)}
tbody tr:last-child>*{border-bottom:0}
thead th{color:var(--muted);font-weight:600;font-size:.85rem}
tbody th{font:600 .85rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.number{text-align:right;font-variant-numeric:tabular-nums;padding-right:20px;white-space:nowrap}
td:last-child{font-variant-numeric:tabular-nums}
.share{display:inline-block;width:72px;height:8px;margin-right:6px;border-radius:4px;background:var(--line);overflow:hidden}
.share i{display:block;height:100%;background:var(--good)}
.counts{white-space:nowrap}
@media (max-width:800px){.share{display:none}section{padding:16px}}`;

const FIGURES = `
.pictures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));gap:24px 32px;margin-top:16px}
.pictures figure:first-child{grid-row:span 2}
figcaption{color:var(--muted);font-size:.88rem;max-width:80ch;margin-top:8px}
.raster{display:block;width:100%;max-width:512px;height:auto;image-rendering:pixelated;border:1px solid var(--line)}
svg{display:block}
.chart{width:100%;height:auto;max-width:540px;overflow:visible}
.wide{max-width:none;min-width:760px;overflow:hidden}
.chart text{font-size:13px;fill:var(--muted)}
.chart .middle{text-anchor:middle}
.chart .end{text-anchor:end}
.chart .name{font-size:11px;fill:var(--ink)}
.chart .super{font-size:10px}
.chart path{fill:none}
.grid,.axis{stroke:var(--line);stroke-width:1}
.axis{stroke:var(--muted)}
.chart .ground{fill:var(--strip)}
.chart .area{fill:var(--soft)}
.chart .core{fill:var(--core)}
.chart .walk{fill:var(--soft);stroke:var(--good);stroke-width:1;stroke-linejoin:round}
.range{stroke:var(--soft)}
.range-core{stroke:var(--core)}
.line{stroke:var(--good);stroke-width:2.5;stroke-linejoin:round}
.dashed{stroke:var(--ink);stroke-width:1.2;stroke-dasharray:6 4}
.dotted{stroke:var(--ink);stroke-width:1.4;stroke-dasharray:1.5 4}
.dot{stroke:var(--good);stroke-width:5;stroke-linecap:round;stroke-opacity:.75}
.ring,.cross{stroke:var(--bad);stroke-width:1.6}
.chart .clipped{fill:var(--bad)}`;

const ROWS = `
.rows{display:grid;grid-template-columns:repeat(auto-fill,minmax(208px,1fr));gap:10px;padding:0;margin:8px 0 24px;list-style:none}
.rows li{display:flex;flex-direction:column;min-width:0;padding:8px 10px;border:1px solid var(--line);border-radius:8px;
font-size:.78rem;line-height:1.45;color:var(--muted);font-variant-numeric:tabular-nums}
.rows p{margin-bottom:auto;padding-bottom:4px}
.rows p b{color:var(--ink)}
.histogram{width:100%;height:auto;margin-bottom:4px}
.checks{font-size:.85rem}
.checks th,.checks td{padding-right:10px;vertical-align:middle}
.checks .histogram{width:56px;margin:0}
.checks .classes{color:var(--muted);white-space:nowrap}
.checks .group th{padding-top:14px;color:var(--ink);font-family:inherit}
.checks .group span{margin-left:8px;color:var(--muted);font-weight:400}
.checks thead th{font-size:inherit}
.checks tr.failed{color:inherit;outline:2px solid var(--bad);outline-offset:-1px}
.scroll+p{margin-top:8px}
.bars{fill:var(--core)}
.expected{stroke:var(--ink);stroke-width:.8;fill:none}`;

const REPORT = `
.digest{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.85em}
caption{text-align:left;color:var(--muted);font-size:.85rem;padding-bottom:4px}
.two figure:first-child{grid-row:auto}
.pair{display:grid;grid-template-columns:3fr 2fr;gap:10px;align-items:end}
.ecdf path{fill:none}
.ecdf .area{fill:var(--soft)}
.diagonal{stroke:var(--muted);stroke-width:.6;stroke-dasharray:2 2}
.function{stroke:var(--ink);stroke-width:1.1}
.signature{display:none}
.end{text-align:center;color:var(--muted);font-size:.85rem}`;

/** Black on white, as most reports are printed. Every section may break, but no row, card, figure or heading. */
const PRINT = `
@page{margin:20mm 16mm 18mm;font:8pt system-ui,Arial,sans-serif}
@media print{
:root{--ground:#fff;--panel:#fff;--ink:#000;--muted:#333;--line:#bbb;--strip:#f3f3f3;
--good:#00457a;--bad:#a33000;--soft:#d5e4f0;--core:#7aa9cc;--good-panel:#fff;--bad-panel:#fff}
body{max-width:none;padding:0;background:#fff;font-size:10pt}
header{padding-top:0}
nav{display:none}
section{border:0;border-radius:0;padding:0;margin-bottom:7mm}
section>p,.limits ul,#rule ul,footer p,figcaption{max-width:none}
.verdict{padding:3mm 5mm;border:.4mm solid var(--ink);border-left-width:2mm}
figure,tr,dl,.rows li,.limits,.verdict,#report,#tests,#supplements,#distribution,.closing,.short{break-inside:avoid}
#pictures{break-before:page}
h2,h3,caption,thead,.group,section>p:has(+.scroll,+figure){break-after:avoid}
thead{display:table-header-group}
p,li{orphans:3;widows:3}
.scroll{overflow:visible}
table{min-width:0;font-size:9pt}
.wide{min-width:0}
thead th,caption,.note{font-size:8pt}
tbody th{font-size:7.5pt}
dt{font-size:8pt}
th,td{padding:2px 3mm 2px 0}
.number{padding-right:3mm}
.share{display:none}
dl{gap:2mm 7mm}
dd{font-size:13pt}
.trace{gap:.5mm 5mm}
.trace dd,.trace dt{font-size:9pt}
.trace .digest{font-size:7.5pt}
figcaption{font-size:8pt}
.rows li{font-size:7.5pt;padding:1.5mm 2mm}
.checks{font-size:7.5pt}
.checks th,.checks td{padding-right:1.5mm}
.checks tbody th{font-size:7.5pt}
.checks .histogram{width:12mm}
.checks tr.failed{outline:.4mm solid var(--ink)}
.pictures{grid-template-columns:1fr 1fr;gap:5mm}
.pictures figure{min-width:0}
.raster{max-width:76mm}
.rows{grid-template-columns:repeat(4,1fr);gap:1.5mm}
.sign,.verdict,.ground{print-color-adjust:exact;-webkit-print-color-adjust:exact}
.signature{display:grid;grid-template-columns:1fr 1fr;gap:10mm;margin-top:16mm}
.signature p{border-top:.3mm solid var(--ink);padding-top:1mm;font-size:8pt}
footer{padding:0}
a{color:inherit}
}`;

export const STYLE: Markup = new Markup(
  [BASE, VERDICT, TABLES, FIGURES, ROWS, REPORT, PRINT].join('').replaceAll('\n', ''),
);
