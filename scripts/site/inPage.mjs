// What runs in a page of the browser. Each function is sent as text: it uses nothing from outside of it.
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

/** @returns {boolean} whether the page reacts to its reader */
export const isReady = () =>
  document.readyState === 'complete' && '__vue_app__' in (document.querySelector('#app') ?? {});

/** @param {'light' | 'dark'} scheme whether the page has taken it on */
export const isInScheme = (scheme) =>
  document.documentElement.classList.contains('dark') === (scheme === 'dark');

/** @returns {{ anchors: string[], links: string[], broken: string[] }} ids, addresses of links to this site, pictures that failed */
export function contentOf() {
  const links = [...document.querySelectorAll('a[href]')].map(
    (link) => /** @type {HTMLAnchorElement} */ (link).href,
  );
  return {
    anchors: [...document.querySelectorAll('[id]')].map(({ id }) => id),
    links: [...new Set(links)].filter((link) => link.startsWith(location.origin)),
    broken: [...document.images]
      .filter((image) => image.complete && image.naturalWidth === 0)
      .map(({ src }) => src),
  };
}

/** @returns {string[]} elements that make the page scroll to the side */
export function tooWide() {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  const wide = [...document.querySelectorAll('body *')].filter(
    (element) =>
      element.getBoundingClientRect().right > width + 1 &&
      !element.parentElement?.closest('table, pre, [class*="language-"]'),
  );
  return wide
    .slice(-1)
    .map((element) => `<${element.tagName.toLowerCase()}> ${element.textContent?.trim().slice(0, 60)}`);
}

/** @returns {string[]} colours of texts whose contrast is below 4.5, or 3 for large text (WCAG 2.2, 1.4.3), with an example */
export function faintTexts() {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  if (!canvas) throw new Error('the browser draws nothing');
  /** @type {Map<string, string>} */
  const faint = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  /** @type {Set<Element>} */
  const seen = new Set();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!element || seen.has(element) || node.textContent?.trim() === '') continue;
    seen.add(element);
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const style = getComputedStyle(element);
    /** @type {string[]} */
    const layers = [];
    for (let at = /** @type {Element | null} */ (element); at; at = at.parentElement)
      layers.unshift(getComputedStyle(at).backgroundColor);
    const key = `${layers} ${style.color} ${style.fontSize} ${style.fontWeight}`;
    if (faint.has(key)) continue;
    let behind = paint('white');
    for (const layer of layers) behind = paint(layer);
    const text = paint(style.color);
    const ratio = (Math.max(behind, text) + 0.05) / (Math.min(behind, text) + 0.05);
    const size = Number.parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    faint.set(
      key,
      ratio < (large ? 3 : 4.5)
        ? `${ratio.toFixed(2)}: ${node.textContent?.trim().slice(0, 40)}, ${style.color} on ${layers.filter((layer) => !layer.endsWith(', 0)'))}`
        : '',
    );
  }
  return [...faint.values()].filter((text) => text !== '');

  /**
   * Paints a colour over those before it.
   *
   * @param {string} colour
   * @returns {number} the relative luminance of the result
   */
  function paint(colour) {
    if (!canvas) return 0;
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0] = [...canvas.getImageData(0, 0, 1, 1).data].map((byte) => {
      const part = byte / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }
}

/** @returns {string | undefined} the focused element, if it does not show that it is */
export function focusShown() {
  const focused = document.activeElement;
  if (!focused || focused === document.body) return undefined;
  const { outlineStyle, outlineWidth } = getComputedStyle(focused);
  if (outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1) return undefined;
  return `<${focused.tagName.toLowerCase()}> ${focused.textContent?.trim().slice(0, 40)}`;
}
