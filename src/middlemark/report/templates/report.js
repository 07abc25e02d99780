// Draws the charts, and shows of the page what is selected. The specs come packed; nothing is asked of any network.
const unpacked = (text) => {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
};
const specs = await unpacked(document.getElementById("specs").textContent).json();
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const hidden = new Set();  // labels of middlewares that are not selected
const views = new Map();   // what is drawn, by the name of its spec

const isHidden = (who) => [...hidden].some((label) => who === label || who.startsWith(`${label},`) || who.startsWith(`${label} (`));
const without = (spec) => JSON.parse(JSON.stringify(spec), (_, value) =>
  Array.isArray(value) && value[0]?.who !== undefined ? value.filter((row) => !isHidden(row.who)) : value);

async function draw(name) {
  const plot = document.getElementById(`plot-${name}`);
  views.get(name)?.finalize();
  views.set(name, await vegaEmbed(plot, without(specs[name]), {
    actions: false, renderer: "svg", tooltip: { theme: dark ? "dark" : "light" },
  }));
}

for (const name of Object.keys(specs)) {
  const closed = document.getElementById(`plot-${name}`).closest("details:not([open])");
  if (closed) closed.addEventListener("toggle", () => draw(name), { once: true });  // what isn't shown has no width
  else draw(name);
}

for (const each of all("details.packed")) each.addEventListener("toggle", async () => {
  const script = each.querySelector("script");
  script.outerHTML = await unpacked(script.textContent).text();
  hide();
}, { once: true });

function hide() {
  for (const each of all("[data-who]")) each.hidden = isHidden(each.dataset.who);
}

function select() {
  hidden.clear();
  for (const box of all("#select input:not(:checked)")) JSON.parse(box.dataset.labels).forEach((label) => hidden.add(label));
  hide();
  const wanted = all("#select select").filter((each) => each.value).map((each) => [each.name, each.value]);
  for (const each of all("[data-factors]")) {
    const factors = JSON.parse(each.dataset.factors);
    each.hidden = wanted.some(([name, value]) => factors[name] !== value);
  }
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
addEventListener("beforeprint", () => all("details").forEach((each) => { each.open = true; }));
