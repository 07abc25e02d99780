// Draws the charts, and shows the selected parts of the page. All of it is in the page; nothing is loaded from any network.
const unpacked = (id) => {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
};
(0, eval)(`"use strict";${await unpacked("vega").text()}`);
const { config, specs, data } = await unpacked("charts").json();
const parts = await unpacked("parts").json();
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const hidden = new Set();  // labels of middlewares that are not selected
const views = new Map();   // what is drawn, by the name of its spec
const nameOf = (plot) => plot.id.slice("plot-".length);
const placed = new Set();  // plots that are drawn, or will be once they are seen

const isHidden = (series) => [...hidden].some((label) => series === label || series.startsWith(`${label},`) || series.startsWith(`${label} (`));
const byRows = (columns) => Object.values(columns)[0].map((_, row) =>
  Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values[row]])));

function specified(name) {
  const datasets = Object.entries(data[name]).map(([key, rows]) =>
    [key, (Array.isArray(rows) ? rows : byRows(rows)).filter((row) => row.series === undefined || !isHidden(row.series))]);
  return { ...structuredClone(specs[name]), config, datasets: Object.fromEntries(datasets) };
}

async function draw(name) {
  const plot = document.getElementById(`plot-${name}`);
  views.get(name)?.finalize();
  views.set(name, await vegaEmbed(plot, specified(name), {
    actions: false, renderer: "svg", tooltip: { theme: dark ? "dark" : "light" },
  }));
}

function place(within) {
  for (const plot of all(".plot", within).filter((each) => !placed.has(each.id))) {
    placed.add(plot.id);
    const name = nameOf(plot);
    const closed = plot.closest("details:not([open])");
    if (closed) closed.addEventListener("toggle", () => draw(name), { once: true });  // what isn't shown has no width
    else draw(name);
  }
}

function unpack(gaps) {
  for (const gap of gaps) {
    const [kind, number] = gap.dataset.packed.split(" ");
    gap.outerHTML = parts[kind][number];
  }
}

for (const each of new Set(all("[data-packed]").map((gap) => gap.closest("details")))) each.addEventListener("toggle", () => {
  unpack(all("[data-packed]", each).filter((gap) => gap.closest("details") === each));
  place(each);
  hide();
}, { once: true });
place(document);

function hide() {
  for (const each of all("[data-series]")) each.hidden = isHidden(each.dataset.series);
  const isShown = (id) => !document.getElementById(id).hidden;
  for (const each of all("[data-settings]")) {
    const ids = each.dataset.settings.split(" ").filter(Boolean);
    each.hidden = ids.length > 0 && !ids.some(isShown);
  }
  for (const map of all(".map")) hideInMap(map, isShown);
}

function hideInMap(map, isShown) {
  const [head, ...rows] = map.querySelector("table").rows;
  const isKept = (cell) => Boolean(cell.firstElementChild) && isShown(cell.firstElementChild.getAttribute("href").slice(1));
  for (const row of rows) {
    const cells = [...row.cells].slice(1);
    for (const cell of cells) cell.classList.toggle("left-out", !isKept(cell));
    row.hidden ||= !cells.some(isKept);
  }
  const kept = rows.filter((row) => !row.hidden);
  for (let column = 1; column < head.cells.length; column += 1) {
    const isGone = !kept.some((row) => isKept(row.cells[column]));
    for (const row of [head, ...rows]) row.cells[column].hidden = isGone;
  }
  map.hidden = kept.length === 0;
}

function select() {
  hidden.clear();
  for (const box of all("#select input:not(:checked)")) JSON.parse(box.dataset.labels).forEach((label) => hidden.add(label));
  const wanted = all("#select select").filter((each) => each.value).map((each) => [each.name, each.value]);
  for (const each of all("[data-factors]")) {
    const factors = JSON.parse(each.dataset.factors);
    each.hidden = wanted.some(([name, value]) => factors[name] !== value);
  }
  hide();
  const settings = all("section[data-factors]");
  document.getElementById("selected").textContent =
    `${settings.filter((each) => !each.hidden).length} of ${settings.length} settings, ` +
    `${all("#select input:checked").length} of ${all("#select input").length} middlewares`;
  [...views.keys()].forEach(draw);
}
const form = document.getElementById("select");
form.hidden = false;
form.addEventListener("change", select);
form.addEventListener("reset", () => setTimeout(select));

function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)) || "answer");
  if (target?.closest("[hidden]")) form.reset();  // a link into what is not selected shows it all the same
  for (let each = target; each; each = each.parentElement) if (each.matches("details")) each.open = true;
  target?.querySelector(":scope > details.body")?.setAttribute("open", "");
}
addEventListener("hashchange", reveal);
reveal();

// A browser prints once this is handled: nothing here may wait for more than promises that are kept, such as a toggle.
addEventListener("beforeprint", () => {
  all("details").forEach((each) => { each.open = true; });
  unpack(all("[data-packed]"));
  all("details").forEach((each) => { each.open = true; });  // what was packed has some too
  hide();
  all(".plot").map(nameOf).filter((name) => !views.has(name)).forEach(draw);
});
