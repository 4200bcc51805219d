// @ts-check
// Light or dark theme of pages without a recording: the last choice, else the system's setting.

export function startTheme() {
  const button = /** @type {HTMLElement} */ (document.getElementById("theme"));
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  let theme = localStorage.getItem("unwind-perf-theme") || (dark ? "dark" : "light");
  const show = () => {
    document.documentElement.dataset.theme = theme;
    button.setAttribute("aria-pressed", String(theme === "dark"));
  };
  button.addEventListener("click", () => {
    theme = theme === "dark" ? "light" : "dark";
    localStorage.setItem("unwind-perf-theme", theme);
    show();
  });
  show();
}
