// Makes elements with plain text: text from a job is never parsed as markup.

const SVG = "http://www.w3.org/2000/svg";

type Attributes = Readonly<Record<string, string | number>>;

export function svg(name: string, attributes: Attributes = {}, ...children: (Node | string)[]): SVGElement {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

export function drawing(width: number, height: number, label: string): SVGElement {
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": label });
}

/** Cuts to about as many letters as fit; keeps the beginning. */
export function shorten(text: string, width: number): string {
  const letters = Math.max(1, Math.floor(width / 7));
  return text.length <= letters ? text : `${text.slice(0, letters - 1)}…`;
}

/** The same for a text whose end matters more. */
export function shortenKeepingEnd(text: string, width: number): string {
  const shortened = shorten(text, width);
  return shortened === text ? text : `…${text.slice(text.length - shortened.length + 1)}`;
}

/** Draws now, and again whenever the width changes. */
export function drawInto(place: Element, draw: (width: number) => SVGElement): () => void {
  let drawnWidth = 0;
  const redraw = () => {
    drawnWidth = Math.floor(place.clientWidth);
    place.replaceChildren(draw(Math.max(240, drawnWidth)));
  };
  new ResizeObserver(() => {
    if (Math.floor(place.clientWidth) !== drawnWidth) redraw();
  }).observe(place);
  redraw();
  return redraw;
}

export function byId<T extends Element = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no ${id}`);
  return element as Element as T;
}
