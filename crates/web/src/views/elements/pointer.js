// @ts-check
// Position of the mouse in the window, since keys act on the object under it.

/** Position, negative outside the window; `moves` counts changes. */
export const pointer = { x: -1, y: -1, moves: 0 };

/** Follows the mouse; touches have no position between two of them. */
export function startPointer() {
  const put = (/** @type {number} */ x, /** @type {number} */ y) => {
    if (x === pointer.x && y === pointer.y) return;
    pointer.x = x;
    pointer.y = y;
    pointer.moves++;
  };
  document.addEventListener("pointermove", (event) => { if (event.pointerType !== "touch") put(event.clientX, event.clientY); }, { capture: true, passive: true });
  document.addEventListener("pointerdown", (event) => { if (event.pointerType === "touch") put(-1, -1); }, { capture: true, passive: true });
  document.documentElement.addEventListener("pointerleave", () => put(-1, -1));
}

/** Returns true if the mouse is over an element.
 * @param {Element} element */
export const isUnderPointer = (element) => pointer.x >= 0 && document.elementFromPoint(pointer.x, pointer.y) === element;
