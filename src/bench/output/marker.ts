// Markers of the points of a line: each place of the palette has its own shape, so that lines differ without colours. Pure.
import { element } from './xml.js';

/** A marker as an SVG element. */
type Shape = (x: number, y: number, radius: number, style: string) => string;

const polygon =
  (corners: readonly (readonly [x: number, y: number])[]): Shape =>
  (x, y, radius, style) => {
    const points = corners.map(
      ([dx, dy]) => `${(x + dx * radius).toFixed(1)},${(y + dy * radius).toFixed(1)}`,
    );
    return element('polygon', { class: style, points: points.join(' ') });
  };

// Of about the same area.
const SHAPES: readonly Shape[] = [
  (x, y, radius, style) => element('circle', { class: style, cx: x, cy: y, r: radius }),
  polygon([
    [-0.9, -0.9],
    [0.9, -0.9],
    [0.9, 0.9],
    [-0.9, 0.9],
  ]),
  polygon([
    [0, -1.25],
    [1.15, 0.85],
    [-1.15, 0.85],
  ]),
  polygon([
    [0, -1.3],
    [1.3, 0],
    [0, 1.3],
    [-1.3, 0],
  ]),
  polygon([
    [-1.15, -0.85],
    [1.15, -0.85],
    [0, 1.25],
  ]),
  polygon([
    [-0.5, -1.15],
    [0.5, -1.15],
    [1.15, 0],
    [0.5, 1.15],
    [-0.5, 1.15],
    [-1.15, 0],
  ]),
  polygon([
    [-0.85, -1.15],
    [1.25, 0],
    [-0.85, 1.15],
  ]),
  polygon([
    [-0.4, -1.2],
    [0.4, -1.2],
    [0.4, -0.4],
    [1.2, -0.4],
    [1.2, 0.4],
    [0.4, 0.4],
    [0.4, 1.2],
    [-0.4, 1.2],
    [-0.4, 0.4],
    [-1.2, 0.4],
    [-1.2, -0.4],
    [-0.4, -0.4],
  ]),
];

/**
 * The marker of a point.
 *
 * @param place of the line in the palette
 * @param radius in px
 */
export function marker(place: number, x: number, y: number, radius: number): string {
  const shape = SHAPES[place % SHAPES.length] as Shape;
  return shape(x, y, radius, `mark-${place}`);
}
