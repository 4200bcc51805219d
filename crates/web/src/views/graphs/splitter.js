// @ts-check
// Separator that sets the height of the element above it, or the width of the one before it: by dragging, and by keys.

/** Change of the size by an arrow key, in pixels. */
const STEP = 22;

/** @param {HTMLElement} line
 * @param {{ size: () => number, most: () => number, set: (size: number, isMoving?: boolean) => void }} options the
 *   current size and its limit; `set` with 0 resets it */
export function startSplitter(line, { size, most, set }) {
  const isWidth = line.getAttribute("aria-orientation") === "vertical", place = (/** @type {PointerEvent} */ event) => isWidth ? event.clientX : event.clientY;
  /** @type {Record<string, number>} */
  const steps = { [isWidth ? "ArrowLeft" : "ArrowUp"]: -STEP, [isWidth ? "ArrowRight" : "ArrowDown"]: STEP, PageUp: -5 * STEP, PageDown: 5 * STEP };
  let start = 0, before = -1;
  const to = (/** @type {number} */ wanted, isMoving = false) => set(Math.round(Math.max(STEP, Math.min(wanted, most()))), isMoving);
  line.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    line.setPointerCapture(event.pointerId);
    start = place(event);
    before = size();
    event.preventDefault();
    line.focus();
  });
  line.addEventListener("pointermove", (event) => { if (before >= 0) to(before + place(event) - start, true); });
  for (const kind of ["pointerup", "pointercancel"]) line.addEventListener(kind, () => {
    if (before >= 0 && size() !== before) to(size());
    before = -1;
  });
  line.addEventListener("dblclick", () => set(0));
  line.addEventListener("keydown", (event) => {
    const step = steps[event.key];
    if (step) to(size() + step);
    else if (event.key === "Home") to(0);
    else if (event.key === "End") to(most());
    else if (event.key === "Enter" || event.key === "Delete") set(0);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

/** Reports the size to assistive technology.
 * @param {HTMLElement} line @param {number} size @param {number} most @param {number} [least] */
export function showSplitter(line, size, most, least = STEP) {
  for (const [name, value] of Object.entries({ now: size, min: least, max: most, text: `${size} pixels` })) line.setAttribute(`aria-value${name}`, String(value));
}
