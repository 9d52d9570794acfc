// The part of `npm test` that runs in the VM: node scripts/test/inVm.mjs RESULTS TIERS [FILTER…], TIERS with commas.

import { runTiers } from './runTiers.mjs';
import { TIERS } from './tiers.mjs';

const [results = '', names = '', ...filters] = process.argv.slice(2);
const wanted = names.split(',');

runTiers(
  TIERS.filter((tier) => wanted.includes(tier.name)),
  results,
  filters,
);
