// Pages of long tables: a field finds rows in all of them, and each table opens by a click.
"use strict";

const LONG = 6; // rows of a table that is folded
const MANY = 40; // rows of a page that has a field
const VERY_MANY = 300; // rows of a page whose tables are all folded

function fold(table) {
  const rows = table.tBodies[0].rows.length;
  const details = document.createElement("details");
  details.className = "rows";
  const summary = document.createElement("summary");
  details.append(summary);
  const frame = table.closest(".table-wrapper") || table;
  frame.replaceWith(details);
  details.append(frame);
  const say = (shown) => {
    const all = rows === 1 ? "1 row" : `${rows} rows`;
    summary.textContent = shown === rows ? `Table: ${all}` : `Table: ${shown} of ${all}`;
  };
  say(rows);
  return { table, details, say, rows };
}

function find(folded, text) {
  for (const { table, details, say } of folded) {
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const found = row.textContent.toLowerCase().includes(text);
      row.classList.toggle("not-found", !found);
      shown += found;
    }
    say(shown);
    details.open = folded.length === 1 || (text !== "" && shown > 0);
    details.hidden = shown === 0;
  }
  // headings without a table that is left go, too
  for (const section of document.querySelectorAll("article section section")) {
    const all = [...section.querySelectorAll("details.rows")];
    section.hidden = text !== "" && all.every((details) => details.hidden);
  }
}

// Code in a narrow column breaks after punctuation, never inside a word.
function offerBreaks(code) {
  for (const text of [...code.childNodes]) {
    if (text.nodeType !== Node.TEXT_NODE) {
      offerBreaks(text);
      continue;
    }
    const parts = text.data.split(/(?<=[a-z0-9)][_.(,/=])(?=.)/i);
    const breaks = parts.flatMap((part, i) => (i ? [document.createElement("wbr"), part] : [part]));
    text.replaceWith(...breaks);
  }
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("article table.docutils code").forEach(offerBreaks);
  const tables = [...document.querySelectorAll("article table.docutils")].filter(
    (table) => table.tBodies[0] && !table.classList.contains("names"),
  );
  const count = tables.reduce((sum, table) => sum + table.tBodies[0].rows.length, 0);
  if (count < MANY) return;
  const least = count > VERY_MANY ? 1 : LONG;
  const folded = tables.filter((table) => table.tBodies[0].rows.length >= least).map(fold);
  const first = folded[0];
  if (!first) return;
  first.details.open = folded.length === 1; // the table is what the page is for
  const field = document.createElement("input");
  field.type = "search";
  field.className = "table-search";
  field.placeholder = "Find in the tables of this page";
  field.setAttribute("aria-label", field.placeholder);
  field.addEventListener("input", () => find(folded, field.value.trim().toLowerCase()));
  // above the first chapter of tables, so that what is found is in sight
  const chapter = first.details.closest("article > section > section");
  (chapter || first.details).before(field);
  // a link to a row, and the browser's own search, open what they lead to
  const open = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const details = target && target.closest("details.rows");
    if (details) details.open = true;
  };
  window.addEventListener("hashchange", open);
  open();
});
