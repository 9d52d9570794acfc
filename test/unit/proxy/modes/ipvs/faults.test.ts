// Every operation of every recorded cluster fails once. The random clusters, which have most operations, and smaller groups of
// operations are in test/long.
import { describe } from 'node:test';
import { failEveryOperation } from '../../../../support/clusters/everyFault.js';
import { sample } from '../../../../support/extent.js';
import { isRandom, scenarios } from '../../../../support/oracle/oracle.js';
import { FakeTablesNode } from '../../../../support/oracle/testNode.js';

const RECORDINGS = scenarios('ipvs').filter((recording) => !isRandom(recording));

failEveryOperation(sample(RECORDINGS, 4), 20);

describe('with rules of nf_tables', () => {
  failEveryOperation(sample(RECORDINGS, 6), 10, (scenario) => new FakeTablesNode(scenario));
});
