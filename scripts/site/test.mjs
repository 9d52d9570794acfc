// Opens every page in Chromium, and lists what a reader would notice.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { find } from '../lib/commands.mjs';
import { Failure } from '../lib/failure.mjs';
import { heading } from '../lib/steps.mjs';
import { contentOf, faintTexts, focusShown, isInScheme, isReady, tooWide } from './inPage.mjs';
import { serveSite } from './serve.mjs';

const SCHEMES = /** @type {const} */ (['light', 'dark']);
const WIDTHS = /** @type {readonly number[]} */ ([360, 1440]);
/** Chromium asks no other host: the addresses of all names but this machine's are unknown. */
const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...[
    '--disable-component-update',
    '--disable-sync',
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  ],
];
/** The pages that --pictures writes. */
const PICTURED = ['index', 'configuration', 'benchmarks'];
/** What is typed into the search, and the page that its first result must open. */
const SEARCHES = [
  { text: '--service-external-ip-range', page: 'configuration' },
  { text: 'throwOnFailure', page: 'library' },
  { text: 'drain', page: 'service-settings' },
];

/**
 * The part of Playwright's page that is used.
 *
 * @typedef {object} Page
 * @property {(address: string) => Promise<unknown>} goto
 * @property {(inPage: (...values: never[]) => unknown, value?: unknown) => Promise<unknown>} waitForFunction
 * @property {(options: { width: number, height: number }) => Promise<void>} setViewportSize
 * @property {(options: { colorScheme?: 'light' | 'dark', reducedMotion?: 'reduce' }) => Promise<void>} emulateMedia
 * @property {<Result>(inPage: (...values: never[]) => Result | Promise<Result>, value?: unknown) => Promise<Result>} evaluate
 * @property {(event: string, listener: (value: any) => void) => void} on
 * @property {(options: { path: string, fullPage?: boolean }) => Promise<unknown>} screenshot
 * @property {{ press: (key: string) => Promise<void>, type: (text: string) => Promise<void> }} keyboard
 * @property {(selector: string) => Promise<void>} click
 * @property {(selector: string) => Promise<unknown>} waitForSelector
 * @property {(address: (url: URL) => boolean) => Promise<void>} waitForURL
 * @property {() => string} url
 */

/**
 * @param {object} site
 * @param {string} site.folder absolute, of the built pages
 * @param {string} site.base its path
 * @param {string} site.modules absolute, of playwright-core
 * @param {readonly string[]} site.pages without suffixes
 * @param {string} [site.pictures] folder for screenshots
 * @returns {Promise<number>} the exit status
 */
export async function testSite({ folder, base, modules, pages, pictures }) {
  const { default: playwright } = await import(
    pathToFileURL(join(modules, 'playwright-core', 'index.js')).href
  );
  const profile = mkdtempSync(join(tmpdir(), 'knp-chromium-'));
  const server = await serveSite(folder, base, 0);
  const options = { executablePath: find('chromium'), headless: true, args: FLAGS };
  const browser = await playwright.chromium
    .launchPersistentContext(profile, options)
    .catch((/** @type {Error} */ error) => {
      server.close();
      throw new Failure(`Chromium did not start: ${error.message}`);
    });
  /** @type {Set<string>} */
  const faults = new Set();
  try {
    const page = await browser.newPage();
    const checks = await checkAll(page, { address: server.address, pages, pictures }, faults);
    for (const fault of faults) process.stdout.write(`${fault}\n`);
    heading(`${checks} checks of ${pages.length} pages: ${faults.size} faults`);
    return faults.size === 0 ? 0 : 1;
  } finally {
    await browser.close();
    server.close();
    rmSync(profile, { recursive: true, force: true });
  }
}

/**
 * @param {Page} page
 * @param {{ address: string, pages: readonly string[], pictures?: string | undefined }} site
 * @param {Set<string>} faults are added
 * @returns {Promise<number>} of checks
 */
async function checkAll(page, { address, pages, pictures }, faults) {
  let current = '';
  let checks = 0;
  const fault = (/** @type {string} */ what) => faults.add(`${current}: ${what}`);
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) fault(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => fault(`uncaught: ${error.message}`));
  page.on('requestfailed', (request) => {
    // Aborted: what the page fetched in advance, when the next one is opened.
    const { errorText } = request.failure();
    if (errorText !== 'net::ERR_ABORTED') fault(`request failed: ${request.url()}: ${errorText}`);
  });
  page.on('request', (request) => {
    if (!/^(?:data|blob):/.test(request.url()) && !request.url().startsWith(address))
      fault(`asks another host: ${request.url()}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) fault(`status ${response.status()}: ${response.url()}`);
  });

  const open = async (/** @type {string} */ path) => {
    await page.goto(path);
    await page.waitForFunction(isReady);
  };

  const show = async (/** @type {'light' | 'dark'} */ colorScheme) => {
    await page.emulateMedia({ colorScheme });
    await page.waitForFunction(isInScheme, colorScheme);
  };

  await page.emulateMedia({ reducedMotion: 'reduce' });
  /** @type {Map<string, { anchors: Set<string>, links: string[] }>} */
  const contents = new Map();
  for (const name of pages) {
    current = name;
    await open(`${address}${name}.html`);
    const { anchors, links, broken } = await page.evaluate(contentOf);
    contents.set(`${new URL(address).pathname}${name}.html`, { anchors: new Set(anchors), links });
    for (const picture of broken) fault(`picture is not shown: ${picture}`);
    // The next page begins with the width of this one: a change of width takes longer than all else.
    const widths = contents.size % 2 === 0 ? WIDTHS : WIDTHS.toReversed();
    // Decisions and API reports are many, and alike.
    const schemes = name.includes('/') ? SCHEMES.slice(contents.size % 2).slice(0, 1) : SCHEMES;
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      for (const scheme of schemes) {
        await show(scheme);
        for (const what of await page.evaluate(tooWide))
          fault(`wider than ${width} pixels, ${scheme}: ${what}`);
        if (width === widths.at(-1))
          for (const what of await page.evaluate(faintTexts)) fault(`contrast, ${scheme}: ${what}`);
        if (pictures !== undefined && PICTURED.includes(name))
          await page.screenshot({ path: join(pictures, `${name}-${width}-${scheme}.png`) });
        checks += 2;
      }
    }
  }
  for (const [path, { links }] of contents) {
    current = path;
    for (const link of links) {
      const { pathname, hash } = new URL(link);
      const target = contents.get(pathname.endsWith('/') ? `${pathname}index.html` : pathname);
      if (!target) fault(`link to no page: ${link}`);
      else if (hash !== '' && !target.anchors.has(decodeURIComponent(hash.slice(1))))
        fault(`link to no heading: ${link}`);
      checks++;
    }
  }
  for (const { text, page: expected } of SEARCHES) {
    current = `search for ${text}`;
    await open(address);
    await page.click('.VPNavBarSearch button');
    await page.waitForSelector('.search-input');
    await page.keyboard.type(text);
    await page.waitForSelector('.results .result');
    await page.keyboard.press('Enter');
    await page
      .waitForURL((url) => url.pathname.endsWith(`/${expected}.html`))
      .catch(() => fault(`the first result opens ${page.url()}, and not ${expected}`));
    checks++;
  }
  current = 'keyboard';
  await open(address);
  for (let press = 0; press < 12; press++) {
    await page.keyboard.press('Tab');
    const unseen = await page.evaluate(focusShown);
    if (unseen !== undefined) fault(`no focus is visible on ${unseen}`);
    checks++;
  }
  return checks;
}
