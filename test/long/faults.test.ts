// Every operation of every recording fails once, almost alone.
import { failEveryOperation } from '../support/everyFault.js';
import { scenarios } from '../support/oracle.js';

failEveryOperation(scenarios('ipvs'), 60);
