// @ts-check
// Tool bar and tabs. If its tools do not fit beside the title, all but the first are behind a button.
import { byId } from "./elements/element.js";

/** Space for the result of a search, which appears later, in pixels. */
const RESULT = 170;

/** Scrolls the strip of tabs to the selected one. */
export function revealTab() {
  const strip = byId("tabs"), tab = /** @type {HTMLElement | null} */ (strip.querySelector("[aria-selected=true]"));
  if (!tab || strip.scrollWidth <= strip.clientWidth) return;
  const left = tab.offsetLeft - strip.offsetLeft;
  if (left < strip.scrollLeft) strip.scrollLeft = left;
  else if (left + tab.offsetWidth > strip.scrollLeft + strip.clientWidth) strip.scrollLeft = left + tab.offsetWidth - strip.clientWidth;
}

export function startToolbar() {
  const header = /** @type {HTMLElement} */ (document.querySelector("header")), more = byId("more");
  let width = 0, title = "";
  const fit = () => {
    const text = byId("title").textContent || "";
    if (header.clientWidth === width && text === title) return;
    width = header.clientWidth;
    title = text;
    header.dataset.fold = "no";
    header.dataset.fold = header.scrollWidth + RESULT > width ? "yes" : "no";
  };
  more.addEventListener("click", () => {
    const isOpen = more.getAttribute("aria-expanded") !== "true";
    more.setAttribute("aria-expanded", String(isOpen));
    header.dataset.more = isOpen ? "yes" : "no";
  });
  new ResizeObserver(() => { fit(); revealTab(); }).observe(header);
  fit();
}
