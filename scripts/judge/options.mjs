// The options of `npm run task -- judge`.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CHECKOUT } from '../lib/checkout.mjs';
import { Failure } from '../lib/failure.mjs';
import { wordsOf } from './words.mjs';

const MODES = ['nftables', 'iptables', 'ipvs'];
const FAULTS = [
  ...['proxyKilled', 'proxyEnded', 'proxyStopped', 'serverDown', 'serverErrors', 'serverSilent'],
  ...['serverOlder', 'serverCompacting', 'serverForbidden', 'serverThrottled', 'serverSlow', 'modeChanged'],
  ...['chainsFlushed', 'tablesDeleted', 'setsFlushed', 'setsDestroyed'],
  ...['virtualServicesDeleted', 'addressesDeleted', 'conntrackSmall', 'restoreFails', 'locksHeld'],
  ...['memoryShort', 'descriptorsShort', 'clockStepped'],
];
/**
 * Modes of the faults that do not exist in all; as in test/judge/run/faultModes.ts.
 *
 * @type {Record<string, string[]>}
 */
const MODES_OF = {
  setsFlushed: ['nftables', 'ipvs'],
  ...{ setsDestroyed: ['ipvs'], virtualServicesDeleted: ['ipvs'], addressesDeleted: ['ipvs'] },
  ...{ conntrackSmall: ['ipvs'], clockStepped: ['ipvs'] },
  ...{ restoreFails: ['iptables', 'ipvs'], locksHeld: ['iptables', 'ipvs'] },
};

/**
 * Orders of the process that judges: `SessionOrders` of test/judge/run/session.ts. Times are in ms, except the sync period.
 *
 * @typedef {object} Orders
 * @property {string[]} [proxy]
 * @property {string} mode
 * @property {string} [ipvsRules] `--ipvs-rules` of the proxy
 * @property {number} seed
 * @property {number} time
 * @property {string[]} faults
 * @property {{ programming: number, recovery: number, chance: number, refusal: number, ipvs?: boolean }} bounds
 * @property {number} steps
 * @property {number} pause
 * @property {number} syncPeriod
 * @property {number} tries
 * @property {string} output
 * @property {string[]} [replays] the texts of the files
 * @property {string[]} [compare] folders of reports to print, instead of judging
 */

/** @returns {Orders} */
function defaultOrders() {
  return {
    ...{ mode: 'nftables', seed: 1, time: 300_000, faults: ['all'], steps: 25, pause: 1200 },
    bounds: { programming: 3000, recovery: 15_000, chance: 1e-9, refusal: 900 },
    ...{ syncPeriod: 5, tries: 30, output: join(CHECKOUT, '.cache/judge') },
  };
}

/** @type {Record<string, (orders: Orders, value: string, option: string) => void>} */
const VALUED = {
  '--proxy': (orders, value, option) => {
    orders.proxy = wordsOf(value, option);
  },
  '--mode': (orders, value, option) => {
    orders.mode = oneOf(MODES, value, option);
  },
  '--ipvs-rules': (orders, value, option) => {
    orders.ipvsRules = oneOf(['iptables', 'nftables'], value, option);
  },
  '--seed': (orders, value, option) => {
    orders.seed = count(value, option, 0);
  },
  '--minutes': (orders, value, option) => {
    orders.time = count(value, option, 1) * 60_000;
  },
  '--faults': (orders, value, option) => {
    const words = value.split(',').map((word) => oneOf([...FAULTS, 'all', 'none'], word, option));
    orders.faults = words.filter((word) => word !== 'none');
  },
  '--events': (orders, value, option) => {
    orders.steps = count(value, option, 2);
  },
  '--pause': (orders, value, option) => {
    orders.pause = count(value, option, 1);
  },
  '--programming': (orders, value, option) => {
    orders.bounds.programming = count(value, option, 1) * 1000;
  },
  '--recovery': (orders, value, option) => {
    orders.bounds.recovery = count(value, option, 1) * 1000;
  },
  '--sync-period': (orders, value, option) => {
    orders.syncPeriod = count(value, option, 1);
  },
  '--shrink': (orders, value, option) => {
    orders.tries = count(value, option, 0);
  },
  '--replay': (orders, value) => {
    orders.replays = textsOf(value);
  },
  '--output': (orders, value) => {
    orders.output = resolve(value);
  },
  '--compare': (orders, value) => {
    orders.compare = value.split(',').map((folder) => resolve(folder));
  },
};

/**
 * @param {readonly string[]} args
 * @returns {Orders}
 */
export function parseOptions(args) {
  const orders = defaultOrders();
  const rest = [...args];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const set = VALUED[word];
    if (!set) throw new Failure(`unknown option ${word} (see --help)`);
    const value = rest.shift();
    if (!value) throw new Failure(`${word} needs a value (see --help)`);
    set(orders, value, word);
  }
  const isIpvs = orders.mode === 'ipvs';
  if (orders.ipvsRules && (!isIpvs || orders.proxy))
    throw new Failure("--ipvs-rules: is an option of this project's proxy in ipvs mode");
  const bounds = { ...orders.bounds, ipvs: isIpvs };
  return { ...orders, bounds, faults: faultsIn(orders) };
}

/**
 * The faults that may happen, when the mode is known.
 *
 * @param {Orders} orders
 */
function faultsIn({ faults, mode }) {
  if (faults.includes('all')) return FAULTS.filter((fault) => (MODES_OF[fault] ?? MODES).includes(mode));
  for (const fault of faults) {
    const modes = MODES_OF[fault] ?? MODES;
    if (!modes.includes(mode)) {
      throw new Failure(`--faults ${fault}: does not exist in mode ${mode}, only in ${modes.join(' and ')}`);
    }
  }
  return faults;
}

/**
 * @param {string} path a file, or a folder with files
 */
function textsOf(path) {
  try {
    const files = statSync(path).isDirectory() ? readdirSync(path).map((name) => join(path, name)) : [path];
    return files.map((file) => readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Failure(`--replay ${path}: ${/** @type {Error} */ (error).message}`);
  }
}

/**
 * @param {readonly string[]} values
 * @param {string} value
 * @param {string} option
 */
function oneOf(values, value, option) {
  if (!values.includes(value)) throw new Failure(`${option} ${value}: must be one of ${values.join(', ')}`);
  return value;
}

/**
 * @param {string} value
 * @param {string} option
 * @param {number} least
 */
function count(value, option, least) {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < least)
    throw new Failure(`${option} ${value}: must be an integer from ${least}`);
  return number;
}
