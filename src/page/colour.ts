// The colour of a value from 0 to 1: from blue to orange, visible on white and on black.

const STOPS: readonly (readonly [number, number, number])[] = [
  [63, 127, 214],
  [143, 99, 201],
  [217, 87, 143],
  [240, 136, 58],
];

export function colourAt(place: number): string {
  const position = Math.min(1, Math.max(0, place)) * (STOPS.length - 1);
  const index = Math.min(STOPS.length - 2, Math.floor(position));
  const [from, to] = [STOPS[index], STOPS[index + 1]];
  if (from === undefined || to === undefined) return "";
  const mixed = from.map((value, part) => Math.round(value + ((to[part] ?? 0) - value) * (position - index)));
  return `rgb(${mixed.join(" ")})`;
}
