"use strict";
(() => {
  const at = (id) => document.getElementById(id);

  // Dark or light: the system's choice until the reader makes one.
  const theme = at("theme");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
  const showTheme = () => { theme.textContent = isDark() ? theme.dataset.light : theme.dataset.dark; };
  theme.hidden = false;
  theme.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    showTheme();
  });
  dark.addEventListener("change", showTheme);
  showTheme();

  // Only boxes that scroll need to be reached by the keyboard.
  const boxes = [...document.querySelectorAll(".scroll")];
  const reach = () => boxes.forEach((box) => {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  });
  window.addEventListener("resize", reach);
  reach();

  // The section being read, in the table of contents.
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver((entries) => entries.forEach((entry) => {
    if (!entry.isIntersecting) return;
    links.forEach((link) => link.removeAttribute("aria-current"));
    links.get(entry.target.id)?.setAttribute("aria-current", "true");
  }), { rootMargin: "-10% 0px -80% 0px" });
  document.querySelectorAll("main > section").forEach((section) => seen.observe(section));

  // The confusion table.
  if (!at("cutoff-data")) return;
  const data = JSON.parse(at("cutoff-data").textContent);
  const cells = [...at("table-confusion").querySelectorAll("tbody tr")].map((row) => [...row.querySelectorAll("data")]);
  // As messages/numerals.py writes them: in Spanish 9670,5 and 12 345.
  const spanish = document.documentElement.lang === "es";
  const written = (text) => (spanish ? text.replace(/^(\d),(\d{3})(?![\d,])/, "$1$2").replaceAll(",", "\u202f").replace(".", ",") : text);
  const grouped = (text) => written(text.replace(/\B(?=(\d{3})+(?!\d))/g, ","));
  const whole = (value) => (Number.isInteger(value) ? grouped(String(value)) : money(value));  // rows may have weights
  const percent = (part, all) => (all ? written((100 * part / all).toFixed(1) + "%") : "–");
  const money = (value) => {
    const size = Math.abs(value);
    const text = size >= 1e4 ? grouped(size.toFixed(0)) : written(String(Number(size.toPrecision(5))));
    return (value < 0 ? "−" : "") + text;
  };
  const cut = (i) => written(String(Number(data.cutoffs[i].toPrecision(5)))).replace("-", "−");
  const put = (node, value, text) => { node.value = String(value); node.textContent = text; };
  const rate = (name, part, all) => put(at("rate-" + name).querySelector("data"), all ? part / all : NaN, percent(part, all));
  const price = (id) => { const value = at(id).valueAsNumber; return value >= 0 ? value : 0; };
  const total = (i) => data.tn[i] * data.right[0] + data.fp[i] * price("cost-fp")
    + data.fn[i] * price("cost-fn") + data.tp[i] * data.right[1];

  let cheapest = 0;
  const show = () => {
    const i = at("cutoff").valueAsNumber;
    const [tn, fp, fn, tp] = [data.tn[i], data.fp[i], data.fn[i], data.tp[i]];
    [[tn, fp, tn + fp], [fn, tp, fn + tp]].forEach((line, r) => line.forEach((value, c) => put(cells[r][c], value, whole(value))));
    rate("accuracy", tn + tp, tn + fp + fn + tp);
    rate("recall", tp, tp + fn);
    rate("fallout", fp, fp + tn);
    rate("precision", tp, tp + fp);
    put(at("rate-total").querySelector("data"), total(i), money(total(i)));
    put(at("cutoff-value").firstElementChild, data.cutoffs[i], cut(i));
    at("cutoff").setAttribute("aria-valuetext", cut(i));
    data.cutoffs.forEach((_, k) => { if (k === 0 || total(k) < total(cheapest)) cheapest = k; });
    at("best-cutoff").textContent = cut(cheapest);
    at("best-cost").textContent = money(total(cheapest));
  };
  ["cutoff", "cost-fp", "cost-fn"].forEach((id) => at(id).addEventListener("input", show));
  at("take-best").addEventListener("click", () => { at("cutoff").value = String(cheapest); show(); });
  document.querySelector(".controls").hidden = false;
  show();
})();
