// Searches long tables and long lists of settings: what doesn't have all words that are typed is left out.
document.body.classList.add("searchable");
const headed = (each) => each.querySelector(":scope > h2, :scope > .eyebrow") ?? each;
addEventListener("input", ({ target }) => {
  if (!target.matches("input.search")) return;
  const words = target.value.toLowerCase().split(/\s+/).filter(Boolean);
  const searched = target.dataset.of ? all(target.dataset.of) : all("tbody tr", target.nextElementSibling);
  for (const each of searched) {
    const text = headed(each).textContent.toLowerCase();
    each.classList.toggle("unmatched", !words.every((word) => text.includes(word)));
  }
});
addEventListener("hashchange", () => {  // a link into what is left out shows it all the same
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  target?.closest(".unmatched")?.classList.remove("unmatched");
});
