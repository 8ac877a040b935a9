/* Style and script of the page. Without the script only the copy buttons do not work; browsers show titles by
 * themselves. */
#include "html_internal.h"

static const char *const style[] = {
    ":root{--bg:#f6f7f9;--card:#fff;--ink:#16191d;--soft:#5b6470;--line:#dfe3e8;--good:#0b7a4b;--bad:#c2261c;"
    "--doubt:#9a6500;--pass:#2f6fd0;--code:#eef1f5}",
    "@media(prefers-color-scheme:dark){:root{--bg:#0f1216;--card:#181c22;--ink:#e6e9ee;--soft:#9aa4b1;--line:"
    "#2c333c;"
    "--good:#4cc38a;--bad:#ff7a6e;--doubt:#e2b14a;--pass:#6ea8ff;--code:#11151a}}",
    "*{box-sizing:border-box}",
    "body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.5 system-ui,-apple-system,'Segoe "
    "UI',Roboto,"
    "'DejaVu Sans',sans-serif;overflow-wrap:break-word}",
    "main{max-width:1180px;margin:0 auto;padding:16px}",
    "section,header.verdict{background:var(--card);border:1px solid "
    "var(--line);border-radius:10px;padding:18px;"
    "margin:0 0 16px;min-width:0}",
    "article+article{margin-top:48px}",
    "h1{font-size:2.2rem;line-height:1.1;margin:.1em 0 .3em}h2{font-size:1.1rem;margin:0 0 "
    ".6em}p{margin:.3em 0}",
    ".what,.legend,.none,figcaption,caption{color:var(--soft);font-size:.9rem}",
    ".why{font-size:1.1rem}.rule{font-size:1.15rem;font-weight:600;border-left:4px solid "
    "var(--bad);padding-left:.7em;"
    "margin:.8em 0}.rule.none{font-weight:400;border-color:var(--line)}",
    ".good{color:var(--good)}.bad{color:var(--bad)}.doubtful,.partial{color:var(--doubt)}",
    "code,pre{font:0.86rem/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}",
    "pre{margin:0;overflow-x:auto;overflow-wrap:normal}",
    "dl{display:grid;grid-template-columns:minmax(6.5em,max-content) 1fr;gap:.2em 1em;margin:.8em 0 0}",
    "dt{color:var(--soft)}dd{margin:0;min-width:0}",
    "table{border-collapse:collapse;width:100%;font-size:.92rem}caption{text-align:left;padding-bottom:.4em}",
    "th,td{padding:.3em .7em .3em 0;border-bottom:1px solid "
    "var(--line);text-align:left;vertical-align:top;font-weight:400}",
    "thead th{color:var(--soft);font-size:.85rem;white-space:nowrap}td.number,thead "
    "th.number{text-align:right;"
    "font-variant-numeric:tabular-nums;white-space:nowrap}",
    "a{color:inherit}.both{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));"
    "gap:12px 32px;"
    "align-items:start}.both dl{margin:0}",
    ".sets thead th:not(:first-child){text-align:right}",
    ".compare td:last-child{min-width:14em}.compare .quadrants "
    "td:last-child{min-width:0}.wide{overflow-x:auto}.wide table{overflow-wrap:normal}.rows "
    "td:nth-child(3){min-width:22em}",
    ".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,430px),1fr));gap:16px}"
    ".charts>*{min-width:0}figure{margin:0}",
    ".command{display:flex;gap:8px;align-items:flex-start;background:var(--code);border:1px solid "
    "var(--line);"
    "border-radius:6px;padding:8px 8px 8px 10px;margin:6px 0}",
    ".command code{flex:1;min-width:0;white-space:pre-wrap;overflow-wrap:anywhere;padding:.25em 0}",
    "p.shows{color:var(--soft);font-size:.9rem;margin:.7em 0 "
    "0}.run{color:var(--soft);font-size:.9rem;border-top:1px "
    "solid var(--line);margin-top:1em;padding-top:.7em}",
    "dd,p.what,p.why,p.run,p.shows,td code{overflow-wrap:anywhere}.rows td code,.rows td "
    "p{overflow-wrap:anywhere}",
    ".filter{font:inherit;font-size:.9rem;width:100%;max-width:34em;margin-top:12px;padding:.4em "
    ".7em;color:var(--ink);background:var(--code);border:1px solid var(--line);border-radius:6px}"
    "tr:target{background:var(--code)}",
    "button.copy{font:inherit;font-size:.85rem;color:var(--ink);background:var(--card);border:1px solid "
    "var(--line);"
    "border-radius:5px;padding:.2em "
    ".8em;min-height:2em;cursor:pointer}button.copy:hover{border-color:var(--soft)}",
    "summary{cursor:pointer;font-weight:600}summary+.wide{margin-top:12px}",
    "svg.chart{display:block;width:100%;height:auto;max-width:720px}",
    ".grid{stroke:var(--line)}.tick,.axis,.note{fill:var(--soft);font-size:12.5px}.axis{font-size:13.5px}",
    ".roof{stroke:var(--soft);stroke-width:1.5;stroke-dasharray:6 "
    "4;fill:none}.tether{stroke:var(--soft);opacity:.45}",
    ".dot{stroke-width:1.4}.dot.pass{fill:var(--pass);fill-opacity:.4;stroke:var(--pass)}"
    ".dot.fail{stroke:var(--bad);stroke-width:2.2;fill:none}.dot.skip{stroke:var(--doubt);stroke-width:1.6;"
    "fill:none}",
    ".dot.candidate circle{fill:var(--card);stroke:var(--ink)}.dot.candidate "
    "text{fill:var(--ink);font-size:12px}",
    ".dot:hover{stroke:var(--ink);cursor:pointer}.legend{margin-bottom:.6em}",
    ".key.pass{display:inline-block;width:.7em;height:.7em;border-radius:50%;background:var(--pass)}"
    ".key.fail,.key.skip{font-weight:700}.key.fail{color:var(--bad)}.key.skip{color:var(--doubt)}",
    "#tip{position:fixed;z-index:2;max-width:min(34em,94vw);background:var(--ink);color:var(--bg);padding:."
    "4em .7em;"
    "border-radius:6px;font-size:.85rem;pointer-events:none}",
    "@media(max-width:640px){main{padding:8px}section,header.verdict{padding:12px;border-radius:8px}h1{font-"
    "size:1.8rem}"
    "dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.5em}.command{flex-direction:column}.command "
    "code{width:100%}"
    ".worst thead{display:none}.worst tr{display:block;border-bottom:1px solid var(--line);padding:.5em "
    "0}.worst "
    "td{display:flex;gap:1em;border:0;padding:.1em "
    "0;text-align:left!important;white-space:normal!important}.worst "
    "td::before{content:attr(data-title);color:var(--soft);flex:0 0 7.5em}"
    ".rows td:nth-child(3){min-width:15em}.tick,.axis,.note{font-size:17px}}",
    "@media print{details{display:block}button.copy{display:none}}",
};

static const char *const script[] = {
    "(function(){'use strict';",
    "function copy(b){var c=b.parentNode.querySelector('code'),t=c.textContent;function "
    "said(w){b.textContent=w;"
    "setTimeout(function(){b.textContent='Copy'},1500)}",
    "function old(){var "
    "r=document.createRange(),s=getSelection();r.selectNodeContents(c);s.removeAllRanges();"
    "s.addRange(r);said(document.execCommand('copy')?'Copied':'Press Ctrl+C')}",
    "if(navigator.clipboard&&isSecureContext)navigator.clipboard.writeText(t).then(function(){said('Copied')}"
    ",old);"
    "else old()}",
    "var tip=document.getElementById('tip');",
    "document.querySelectorAll('.dot').forEach(function(d){var t=d.querySelector('title');"
    "d.setAttribute('aria-label',t.textContent);d.removeChild(t)});",
    "function show(e){var d=e.target.closest&&e.target.closest('.dot');if(!d){tip.hidden=true;return}",
    "tip.textContent=d.getAttribute('aria-label');tip.hidden=false;var w=tip.offsetWidth,h=tip.offsetHeight;",
    "tip.style.left=Math.max(4,Math.min(innerWidth-w-4,e.clientX+12))+'px';",
    "tip.style.top=(e.clientY+16+h<innerHeight?e.clientY+16:Math.max(4,e.clientY-h-12))+'px'}",
    "function open(){var r=location.hash.length>1&&document.getElementById(location.hash.slice(1)),d=r&&"
    "r.closest('details');if(d){d.open=true;r.scrollIntoView()}}",
    "addEventListener('hashchange',open);open();",
    "document.querySelectorAll('.rows details').forEach(function(d){var i=document.createElement('input');"
    "i.type='search';i.className='filter';i.placeholder='Filter: words that a row must have, such as wrong "
    "unseen cols=5';",
    "i.setAttribute('aria-label','Filter configurations');i.addEventListener('input',function(){"
    "var w=i.value.toLowerCase().split(/\\s+/);",
    "d.querySelectorAll('tr.configuration').forEach(function(r){var t=r.textContent.toLowerCase();"
    "r.hidden=!w.every(function(x){return t.indexOf(x)>=0})})});",
    "d.insertBefore(i,d.querySelector('.wide'))});",
    "document.addEventListener('pointermove',show);",
    "document.addEventListener('click',function(e){if(e.target.matches('button.copy'))copy(e.target);else "
    "show(e)});",
    "})();",
};

void html_style(FILE *out)
{
    fputs("<style>\n", out);
    for (size_t i = 0; i < sizeof style / sizeof *style; i++)
        fprintf(out, "%s\n", style[i]);
    fputs("</style>\n", out);
}

void html_script(FILE *out)
{
    fputs("<script>\n", out);
    for (size_t i = 0; i < sizeof script / sizeof *script; i++)
        fprintf(out, "%s\n", script[i]);
    fputs("</script>\n", out);
}
