// The mark of a job in a drawing. When it is pointed at or focused, it shows its text, and the same job is highlighted
// in every drawing. A drawing is one stop of the Tab key; arrow keys move between its marks.

import { byId } from "./svg.js";

/** `text`: what the mark shows, line by line. */
export function asMark(element: SVGElement, job: number | string, text: string): SVGElement {
  element.classList.add("mark");
  element.dataset.job = String(job);
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", text);
  element.setAttribute("tabindex", "-1");
  return element;
}

export function listenToMarks(drawing: SVGElement): SVGElement {
  const marks = [...drawing.querySelectorAll<SVGElement>(".mark")];
  marks[0]?.setAttribute("tabindex", "0");
  const show = ({ target }: Event) => {
    if (target instanceof SVGElement && target.classList.contains("mark")) showMark(target);
  };
  drawing.addEventListener("pointerover", show);
  drawing.addEventListener("focusin", show);
  drawing.addEventListener("pointerout", hideTip);
  drawing.addEventListener("focusout", hideTip);
  drawing.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hideTip();
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const at = marks.indexOf(event.target as SVGElement);
    const next = step === undefined ? undefined : marks[at + step];
    if (next === undefined) return;
    event.preventDefault();
    marks[at]?.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  });
  return drawing;
}

function showMark(mark: SVGElement): void {
  light(mark.dataset.job ?? null);
  const tip = byId("tip");
  tip.textContent = mark.getAttribute("aria-label");
  tip.hidden = false;
  const { left, right, top, bottom } = mark.getBoundingClientRect();
  const { width, height } = tip.getBoundingClientRect();
  const centre = (Math.max(0, left) + Math.min(innerWidth, right) - width) / 2;
  tip.style.left = `${Math.max(4, Math.min(centre, innerWidth - width - 4))}px`;
  tip.style.top = `${top - height - 8 >= 4 ? top - height - 8 : bottom + 8}px`;
}

function hideTip(): void {
  light(null);
  byId("tip").hidden = true;
}

/** Null: none. */
export function light(job: string | null): void {
  for (const each of document.querySelectorAll(".lit")) each.classList.remove("lit");
  if (job === null) return;
  for (const each of document.querySelectorAll(`[data-job="${CSS.escape(job)}"]`)) each.classList.add("lit");
}
