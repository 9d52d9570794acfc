// The fakes write again what they list, as the kernel does: test/kernel/roundTrips-*.test.ts.
import { describe } from 'node:test';
import { FakeConntrack, FakeIpset, FakeIpvs } from '../../../../src/kernel/testing/index.js';
import { conntrackRoundTrips } from '../../../support/roundTrips/conntrack.js';
import { ipsetRoundTrips } from '../../../support/roundTrips/ipset.js';
import { ipvsRoundTrips } from '../../../support/roundTrips/ipvs.js';

describe('a fake of IPVS', () => ipvsRoundTrips(async () => new FakeIpvs()));
describe('a fake of ipset', () => ipsetRoundTrips(async () => new FakeIpset()));
describe('a fake of conntrack', () => conntrackRoundTrips(async () => new FakeConntrack()));
