// Great numbers of operations, opens and closes, and workers that are terminated: every client and watch but IPVS.
// Needs: conntrack, ipset
import { execFileSync } from 'node:child_process';
import { before } from 'node:test';
import { WHOLE } from '../support/extent.js';
import { soakTests } from '../support/measures/soakTests.js';

// Addresses on lo that is down have no routes.
before(() => void execFileSync('ip', ['link', 'set', 'lo', 'up']));

soakTests(['ipset', 'rtnetlink', 'netlink', 'conntrack'], WHOLE ? 20_000 : 2000, WHOLE ? 500 : 50);
