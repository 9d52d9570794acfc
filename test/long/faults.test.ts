// Every operation of the recorded random clusters fails once.
import { failEveryOperation } from '../support/everyFault.js';
import { isRandom, scenarios } from '../support/oracle.js';

failEveryOperation(scenarios('ipvs').filter(isRandom));
