// Every operation of every recording fails once, almost alone.
import { failEveryOperation } from '../support/clusters/everyFault.js';
import { scenarios } from '../support/oracle/oracle.js';

failEveryOperation(scenarios('ipvs'), 60);
