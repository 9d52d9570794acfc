// Every operation of every recording fails once, almost alone. With rules of nf_tables, those of two random clusters: the tier unit has the others.
import { describe } from 'node:test';
import { failEveryOperation } from '../support/clusters/everyFault.js';
import { isRandom, scenarios } from '../support/oracle/oracle.js';
import { FakeTablesNode } from '../support/oracle/testNode.js';

failEveryOperation(scenarios('ipvs'), 60);

describe('with rules of nf_tables', () => {
  failEveryOperation(
    scenarios('ipvs').filter(isRandom).slice(0, 2),
    10,
    (scenario) => new FakeTablesNode(scenario),
  );
});
