// Every recording, with an API server.
// Needs: ipvs, dummy device, idle
import { judgeOnApi } from '../support/oracle/judgeOnApi.js';
import { scenarios } from '../support/oracle/oracle.js';

judgeOnApi(scenarios('ipvs'));
