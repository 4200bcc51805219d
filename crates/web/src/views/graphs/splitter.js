// @ts-check
// Separator that sets the height of the element above it: by dragging, and by keys.

/** Change of the height by an arrow key, in pixels. */
const STEP = 22;

/** @param {HTMLElement} line
 * @param {{ height: () => number, most: () => number, set: (height: number, isMoving?: boolean) => void }} options the
 *   current height and its limit; `set` with 0 resets it */
export function startSplitter(line, { height, most, set }) {
  let start = 0, before = -1;
  const to = (/** @type {number} */ wanted, isMoving = false) => set(Math.round(Math.max(STEP, Math.min(wanted, most()))), isMoving);
  line.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    line.setPointerCapture(event.pointerId);
    start = event.clientY;
    before = height();
    event.preventDefault();
    line.focus();
  });
  line.addEventListener("pointermove", (event) => { if (before >= 0) to(before + event.clientY - start, true); });
  for (const kind of ["pointerup", "pointercancel"]) line.addEventListener(kind, () => {
    if (before >= 0 && height() !== before) to(height());
    before = -1;
  });
  line.addEventListener("dblclick", () => set(0));
  line.addEventListener("keydown", (event) => {
    const step = { ArrowUp: -STEP, ArrowDown: STEP, PageUp: -5 * STEP, PageDown: 5 * STEP }[event.key];
    if (step) to(height() + step);
    else if (event.key === "Home") to(0);
    else if (event.key === "End") to(most());
    else if (event.key === "Enter" || event.key === "Delete") set(0);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

/** Reports the height to assistive technology.
 * @param {HTMLElement} line @param {number} height @param {number} most */
export function showSplitter(line, height, most) {
  for (const [name, value] of Object.entries({ now: height, min: STEP, max: most, text: `${height} pixels` })) line.setAttribute(`aria-value${name}`, String(value));
}
